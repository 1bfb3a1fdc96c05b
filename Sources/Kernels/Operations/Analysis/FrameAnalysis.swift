/// Something that looks at frames and never touches them.
///
/// Analyses run beside the frames' path, on every nth frame, and see the frame as it came in.
///
/// One that compares a frame with those before it also says how a session's frames are looked at:
/// ``makeAnalyzer()`` is asked once a session, and what it gives may remember.
public protocol FrameAnalysis: Sendable {
  /// How often to look: 1 is every frame.
  var everyNth: Int { get }

  /// Looks at one frame by itself.
  ///
  /// - Returns: What was found, by name.
  func analyze(_ frame: Frame, at moment: FrameMoment) async throws -> [String: AnalysisValue]

  /// Begins to look at the frames of one session. There is no need to write this one: by default
  /// each frame is looked at by itself.
  func makeAnalyzer() -> any FrameAnalyzer
}

extension FrameAnalysis {
  /// Looks at each frame by itself.
  public func makeAnalyzer() -> any FrameAnalyzer {
    FrameByFrameAnalyzer(analysis: self)
  }
}

/// Looks at the frames of one session, one after the other, and may remember what it saw.
///
/// A value with one owner: whoever looks at a session's frames keeps it in a variable.
public protocol FrameAnalyzer: Sendable {
  /// Looks at the next frame. Frames come in their order, not all of them, and their size and format
  /// may change on the way.
  ///
  /// - Returns: What was found, by name.
  mutating func analyze(
    _ frame: Frame, at moment: FrameMoment
  ) async throws -> [String: AnalysisValue]
}

/// Looks at each frame by itself.
struct FrameByFrameAnalyzer: FrameAnalyzer {
  let analysis: any FrameAnalysis

  func analyze(
    _ frame: Frame, at moment: FrameMoment
  ) async throws -> [String: AnalysisValue] {
    try await self.analysis.analyze(frame, at: moment)
  }
}

/// Something that an analysis found.
public enum AnalysisValue: Sendable, Hashable {
  /// A number.
  case number(Double)
  /// Numbers: a histogram, for instance.
  case vector([Double])
  /// A name.
  case text(String)
  /// Where something is in the frame.
  case region(Region, confidence: Double, id: UInt64)
  /// Several of these.
  case list([AnalysisValue])
}

/// An analysis in its place in a pipeline.
public struct PlannedAnalysis: Sendable {
  /// What an analyzer was made from: with another filter or other parameters it is another.
  package struct Identity: Sendable, Hashable {
    var filter: String
    var arguments: Arguments
  }

  /// The id of the stage that asks for it, or else its place: `stages[1]`,
  /// `stages[1].pipeline.stages[0]`.
  public let stage: String
  /// The filter's name.
  public let filter: String
  /// How often to look: 1 is every frame.
  public let everyNth: Int
  /// What looks.
  public let analysis: any FrameAnalysis
  package let identity: Identity

  package init(stage: String, identity: Identity, analysis: any FrameAnalysis) {
    self.stage = stage
    self.filter = identity.filter
    self.identity = identity
    self.everyNth = max(1, analysis.everyNth)
    self.analysis = analysis
  }
}
