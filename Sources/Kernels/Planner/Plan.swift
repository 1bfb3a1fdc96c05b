/// What is done to every frame of one geometry: passes, in order. Holds no pixels and no state.
public struct Plan: Sendable, CustomStringConvertible {
  /// The frames that the plan is for.
  public let input: FrameGeometry
  /// The frames that it makes.
  public let output: FrameGeometry
  /// What looks at the input beside the frame's path, in the stages' order.
  public let analyses: [PlannedAnalysis]
  /// What keeping the plan costs, in bytes, roughly: the images that were brought into the frame, the
  /// grids of fields, and a few thousand bytes a pass. The frames that it works on are not counted.
  public let byteCost: Int
  /// Why this is no plan: it has no passes then, and must not be run; `nil` for one that is.
  public let refusal: PlanRefusal?
  package let steps: [PlannedPass]
  /// What it has of what all plans may hold together.
  let share: PlanAllowance.Share?
  private let lastReaders: [[Int]]

  /// What a pass costs that holds no picture: its object, tables, words.
  private static let passBytes = 4096

  package init(
    input: FrameGeometry, output: FrameGeometry, steps: [PlannedPass],
    analyses: [PlannedAnalysis] = [], byteCost: Int = 0
  ) {
    self.refusal = nil
    self.share = nil
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

  /// No plan.
  init(input: FrameGeometry, output: FrameGeometry, refused refusal: PlanRefusal) {
    self.input = input
    self.output = output
    self.analyses = []
    self.byteCost = 0
    self.refusal = refusal
    self.steps = []
    self.lastReaders = []
    self.share = nil
  }

  private init(_ plan: Plan, share: PlanAllowance.Share) {
    self.input = plan.input
    self.output = plan.output
    self.analyses = plan.analyses
    self.byteCost = plan.byteCost
    self.refusal = plan.refusal
    self.steps = plan.steps
    self.lastReaders = plan.lastReaders
    self.share = share
  }

  /// The same plan, which counts among others for as long as anybody refers to it.
  func holding(_ share: PlanAllowance.Share) -> Plan { Plan(self, share: share) }

  /// What each pass does.
  public var passes: [PassDescription] { self.steps.map(\.pass.description) }

  /// Whether frames come back as they are, byte for byte.
  public var isIdentity: Bool { self.steps.isEmpty && self.refusal == nil }

  /// The passes in words, numbered, one a line.
  public var description: String {
    guard !self.isIdentity else { return "no pass: frames come back as they are" }
    if let refusal {
      return
        "no plan: it would hold \(refusal.byteCount) bytes or more, the limit is \(refusal.limit)"
    }
    return self.passes.enumerated()
      .map { "\($0.offset + 1). \($0.element.name): \($0.element.words)" }
      .joined(separator: "\n")
  }

  /// The pictures that nobody reads after the given pass.
  package func finished(after index: Int) -> [Int] { self.lastReaders[index] }
}

/// Why there is no plan: it would hold too much memory.
public struct PlanRefusal: Sendable, Hashable {
  /// What it would hold, at least; in bytes.
  public let byteCount: Int
  /// What it may hold; in bytes.
  public let limit: Int
  /// Whether that is what other plans have left of what all may hold together, rather than what one may.
  public let isShared: Bool
}

/// What one pass over a frame does, for traces, metrics and `sidelight check`.
public struct PassDescription: Sendable, Hashable {
  /// The kind of work.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Each pixel from itself.
    case pointwise
    /// Each pixel from a neighbourhood.
    case neighborhood
    /// Each pixel from another place.
    case warp
    /// Two pictures into one.
    case composite
    /// A user's function of the whole frame.
    case frame
    /// Between a file and a frame.
    case codec
  }

  /// The filters that the pass computes, joined by `+`; for a pass that serves a filter without
  /// being all of it, the same.
  public let name: String
  /// The filters that the pass computes, in order.
  public let filters: [String]
  /// The kind of work.
  public let kind: Kind
  /// What is done, in words.
  public let words: String

  /// Describes a pass; its name is made of its filters' names.
  public init(filters: [String], kind: Kind, words: String) {
    self.name = filters.joined(separator: "+")
    self.filters = filters
    self.kind = kind
    self.words = words
  }
}

/// A pass in its place in a plan.
package struct PlannedPass: Sendable {
  /// The work.
  package let pass: any Pass
  /// Which pictures it reads: 0 is the frame, n the result of the plan's pass n - 1.
  package let inputs: [Int]
  /// The layout of its result.
  package let layout: FrameLayout
  /// How its result's samples are stored.
  package var depth: SampleDepth
}
