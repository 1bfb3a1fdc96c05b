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
  package let steps: [PlannedPass]
  private let lastReaders: [[Int]]

  /// What a pass costs that holds no picture: its object, tables, words.
  private static let passBytes = 4096

  package init(
    input: FrameGeometry, output: FrameGeometry, steps: [PlannedPass],
    analyses: [PlannedAnalysis] = [], byteCost: Int = 0
  ) {
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

  /// What each pass does.
  public var passes: [PassDescription] { self.steps.map(\.pass.description) }

  /// Whether frames come back as they are, byte for byte.
  public var isIdentity: Bool { self.steps.isEmpty }

  /// The passes in words, numbered, one a line.
  public var description: String {
    guard !self.isIdentity else { return "no pass: frames come back as they are" }
    return self.passes.enumerated()
      .map { "\($0.offset + 1). \($0.element.name): \($0.element.words)" }
      .joined(separator: "\n")
  }

  /// The pictures that nobody reads after the given pass.
  package func finished(after index: Int) -> [Int] { self.lastReaders[index] }
}
