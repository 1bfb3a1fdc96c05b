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
