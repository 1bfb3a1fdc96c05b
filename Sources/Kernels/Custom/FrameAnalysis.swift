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
