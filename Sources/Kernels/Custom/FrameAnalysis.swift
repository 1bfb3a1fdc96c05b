/// Something that looks at frames and never touches them.
///
/// Analyses run beside the frames' path, on every nth frame, and see the frame as it came in.
public protocol FrameAnalysis: Sendable {
  /// How often to look: 1 is every frame.
  var everyNth: Int { get }

  /// Looks at a frame.
  ///
  /// - Returns: What was found, by name.
  func analyze(_ frame: Frame, at moment: FrameMoment) async throws -> [String: AnalysisValue]
}
