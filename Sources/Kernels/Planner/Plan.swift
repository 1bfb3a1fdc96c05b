/// The compiled passes for frames of one geometry, in order. A plan doesn't hold pixels of frames
/// or state.
public struct Plan: Sendable, CustomStringConvertible {
  /// The geometry of input frames.
  public let input: FrameGeometry
  /// The geometry of output frames.
  public let output: FrameGeometry
  /// The analyses of input frames, in the order of their stages.
  public let analyses: [PlannedAnalysis]
  /// The approximate memory of the plan, in bytes: images placed in the frame, grids of fields, and
  /// 4096 bytes per pass. Frames are not counted.
  public let byteCost: Int
  /// The reason why the plan was refused; `nil` for a valid plan. A refused plan is empty and must
  /// not be run.
  public let refusal: PlanRefusal?
  package let steps: [PlannedPass]
  /// The active filters that don't change frames with their parameters, in order.
  public let idleStages: [IdleStage]
  /// The stages that depend on the contents of frames. Their passes need a ``FrameScene``.
  package let sceneStages: [PlannedSceneStage]
  /// The plan's reservation of the memory that all plans may hold; `nil` for plans that do not
  /// count.
  let reservation: PlanMemoryLimit.Reservation?
  private let lastReaders: [[Int]]

  /// The cost of a pass without pictures: its object, tables and texts.
  private static let passBytes = 4096

  package init(
    input: FrameGeometry, output: FrameGeometry, steps: [PlannedPass],
    analyses: [PlannedAnalysis] = [], sceneStages: [PlannedSceneStage] = [],
    idleStages: [IdleStage] = [], byteCost: Int = 0
  ) {
    self.sceneStages = sceneStages
    self.idleStages = idleStages
    self.refusal = nil
    self.reservation = nil
    self.byteCost = byteCost + Self.passBytes * steps.count
    self.analyses = analyses
    self.input = input
    self.output = output
    self.steps = steps
    var lastReader: [Int: Int] = [:]
    for (index, step) in steps.enumerated() {
      for slot in step.inputs { lastReader[slot] = index }
    }
    self.lastReaders = steps.indices.map { index in
      lastReader.filter { $0.value == index }.map(\.key)
    }
  }

  /// Creates a refused plan.
  init(input: FrameGeometry, output: FrameGeometry, refused refusal: PlanRefusal) {
    self.input = input
    self.output = output
    self.analyses = []
    self.sceneStages = []
    self.idleStages = []
    self.byteCost = 0
    self.refusal = refusal
    self.steps = []
    self.lastReaders = []
    self.reservation = nil
  }

  private init(_ plan: Plan, reservation: PlanMemoryLimit.Reservation) {
    self.input = plan.input
    self.output = plan.output
    self.analyses = plan.analyses
    self.sceneStages = plan.sceneStages
    self.idleStages = plan.idleStages
    self.byteCost = plan.byteCost
    self.refusal = plan.refusal
    self.steps = plan.steps
    self.lastReaders = plan.lastReaders
    self.reservation = reservation
  }

  /// Returns the same plan with a reservation, which ends with the last reference to the plan.
  func holding(_ reservation: PlanMemoryLimit.Reservation) -> Plan {
    Plan(self, reservation: reservation)
  }

  /// The descriptions of the passes. Work on the scene precedes the others.
  public var passes: [PassDescription] {
    self.scenePasses + self.steps.map(\.pass.description)
  }

  /// The estimated time of one thread that kernels from text take for a frame. It is known before
  /// the first frame; the time of other passes is measured.
  package var kernelTime: Duration {
    let nanoseconds = self.steps.reduce(0) { $0 + $1.pass.kernelNanoseconds($1.layout.size) }
    return .nanoseconds(Int64(min(nanoseconds, 1e15)))
  }

  /// Whether frames are returned unchanged, byte for byte.
  public var isIdentity: Bool { self.steps.isEmpty && self.refusal == nil }

  /// Whether a stage hides a part of every frame.
  package var protects: Bool { self.sceneStages.contains(where: \.protects) }

  /// Whether a stage hides faces.
  package var hidesFaces: Bool {
    self.sceneStages.contains {
      $0.protects && $0.request.faceUse == .protected
    }
  }

  /// The summaries of the passes, numbered, one per line.
  public var description: String {
    guard !self.isIdentity else { return "no pass: frames are returned unchanged" }
    if let refusal {
      return
        "no plan: it would hold \(refusal.byteCount) bytes or more, the limit is \(refusal.limit)"
    }
    return self.passes.enumerated()
      .map { "\($0.offset + 1). \($0.element.name): \($0.element.summary)" }
      .joined(separator: "\n")
  }

  /// The pictures that passes after the given one don't read.
  package func finished(after index: Int) -> [Int] { self.lastReaders[index] }
}

/// An active filter that doesn't change frames with its parameters, such as a hue that turns by 0.
public struct IdleStage: Sendable, Hashable {
  /// The path of the stage: `stages[1].pipeline.stages[0]`.
  public let path: String
  /// The filter's name.
  public let filter: String
}

/// The reason of a refused plan: it would hold too much memory.
public struct PlanRefusal: Sendable, Hashable {
  /// The bytes that the plan would hold, at least.
  public let byteCount: Int
  /// The bytes that the plan may hold.
  public let limit: Int
  /// Whether ``limit`` is the remaining memory of all plans instead of one plan's limit.
  public let isShared: Bool
}

/// The description of one pass over a frame, for traces, metrics and `sidelight check`.
public struct PassDescription: Sendable, Hashable {
  /// The kind of work.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Pixels depend on themselves only.
    case pointwise
    /// Pixels depend on a neighbourhood.
    case neighborhood
    /// Pixels are read from other positions.
    case warp
    /// Two pictures are combined.
    case composite
    /// A custom function of the whole frame.
    case frame
    /// Conversion between a file and a frame.
    case codec
    /// Work on a small copy of the frame that determines the drawings of later passes.
    case scene
  }

  /// The names of the pass's filters, joined by `+`, or the name of work on the scene. A pass that
  /// computes a part of a filter has the filter's name.
  public let name: String
  /// The filters that the pass computes, in order.
  public let filters: [String]
  /// The kind of work.
  public let kind: Kind
  /// The work in one line: `Gaussian of sigma 2.0, down and then across each plane`.
  public let summary: String

  /// Creates a description; its name joins the names of the filters.
  public init(filters: [String], kind: Kind, summary: String) {
    self.init(
      name: filters.joined(separator: "+"), filters: filters, kind: kind, summary: summary)
  }

  /// Creates a description of work that does not have the name of its filters.
  package init(name: String, filters: [String], kind: Kind, summary: String) {
    self.name = name
    self.filters = filters
    self.kind = kind
    self.summary = summary
  }
}

/// A pass in a plan, with its inputs and the layout of its result.
package struct PlannedPass: Sendable {
  package let pass: any Pass
  /// The pictures that it reads: 0 is the input frame, n the result of pass n - 1.
  package let inputs: [Int]
  /// The layout of its result.
  package let layout: FrameLayout
  /// The depth of its result's samples.
  package var depth: SampleDepth
}
