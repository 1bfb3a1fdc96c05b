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

  /// Whether another process writes the results.
  package var hasForeignResult: Bool { self.steps.last?.pass is any RemotePass }

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

/// A pass in a plan, with its inputs and the layout of its result.
package struct PlannedPass: Sendable {
  package let pass: any Pass
  /// The pictures that it reads: 0 is the input frame, n the result of pass n - 1.
  package let inputs: [Int]
  package let layout: FrameLayout
  /// The depth of its result's samples.
  package var depth: SampleDepth
}

/// A scene stage of a plan.
package struct PlannedSceneStage: Sendable {
  /// The id of the stage, or its path.
  package let stage: String
  package let filter: String
  package let request: any SceneRequest
  /// Whether the filter hides a part of the frame.
  package var protects = false
}

extension PlannedSceneStage {
  /// The description of the stage's step, for traces; `nil` if the step is too short for one.
  package var stepDescription: PassDescription? {
    self.request.stepName.map {
      PassDescription(
        name: $0, filters: [self.filter], kind: .scene, summary: self.request.stepSummary)
    }
  }
}

extension Plan {
  /// The description of face tracking; `nil` if the stages don't need faces.
  package var faceTracking: PassDescription? {
    let filters = self.sceneStages.filter { $0.request.faceUse != .unused }.map(\.filter)
    guard !filters.isEmpty else { return nil }
    return PassDescription(
      name: "faceTrack", filters: filters, kind: .scene,
      summary: "faces followed by optical flow in a copy of at most 320x180 pixels")
  }

  /// Whether the plan can be mixed with another: the states of all its scene stages can be copied.
  package var allowsMixing: Bool { self.sceneStages.allSatisfy(\.request.isCopyable) }

  /// Whether a session that is short of time leaves out some of the work on the scene.
  package var hasReducedScene: Bool {
    self.sceneStages.contains {
      $0.request.readsPicture && $0.request.faceUse != .protected
    }
  }

  /// Whether the work on the scene runs custom code, which may not return.
  package var hasCustomScene: Bool { self.sceneStages.contains { $0.request.isCustom } }

  /// The descriptions of the work on the scene, which precedes the passes.
  var scenePasses: [PassDescription] {
    (self.faceTracking.map { [$0] } ?? []) + self.sceneStages.compactMap(\.stepDescription)
  }
}

/// An analysis and its stage in a pipeline.
public struct PlannedAnalysis: Sendable {
  /// The filter and its arguments. An analyzer is reused only for the same identity.
  package struct Identity: Sendable, Hashable {
    var filter: String
    var arguments: Arguments
  }

  /// The id of the analysis's stage, or its path: `stages[1]`, `stages[1].pipeline.stages[0]`.
  public let stage: String
  /// The filter's name.
  public let filter: String
  /// The interval between analysed frames, at least 1: 1 is every frame.
  public let everyNth: Int
  /// The analysis.
  public let analysis: any FrameAnalysis
  package let identity: Identity
  /// Whether the plan has the analysis as a scene stage too. Frames that the plan runs on are then
  /// not analysed again.
  package internal(set) var isInScene = false

  package init(stage: String, identity: Identity, analysis: any FrameAnalysis) {
    self.stage = stage
    self.filter = identity.filter
    self.identity = identity
    self.everyNth = max(1, analysis.everyNth)
    self.analysis = analysis
  }
}
