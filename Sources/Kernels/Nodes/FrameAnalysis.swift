/// An analysis of frames, which does not change them.
///
/// Analyses run off the frame's path, on every nth frame, and read the frame before the first
/// stage.
///
/// An analysis that compares frames also implements ``makeAnalyzer()``, which is called once per
/// session, and returns a value with state.
public protocol FrameAnalysis: Sendable {
  /// The interval between analysed frames: 1 is every frame. Smaller numbers count as 1.
  var everyNth: Int { get }

  /// Analyses one frame, independently of others.
  ///
  /// - Returns: The results by name.
  func analyze(_ frame: Frame, at time: FrameTime) async throws -> [String: AnalysisValue]

  /// Creates the analyzer of one session's frames. The default implementation analyses every frame
  /// independently.
  func makeAnalyzer() -> any FrameAnalyzer
}

extension FrameAnalysis {
  /// Creates an analyzer that analyses every frame independently.
  public func makeAnalyzer() -> any FrameAnalyzer {
    FrameByFrameAnalyzer(analysis: self)
  }
}

/// An analysis by another process, which needs no turn on the compute threads.
package protocol RemoteAnalysis: FrameAnalysis {}

/// An analyzer of the frames of one session, in order; it may keep state.
///
/// A session is the only owner of the value.
public protocol FrameAnalyzer: Sendable {
  /// Analyses the next frame. Frames are in order, with gaps, and their size and format may change.
  ///
  /// - Returns: The results by name.
  mutating func analyze(
    _ frame: Frame, at time: FrameTime
  ) async throws -> [String: AnalysisValue]
}

/// An analyzer without state.
struct FrameByFrameAnalyzer: FrameAnalyzer {
  let analysis: any FrameAnalysis

  func analyze(
    _ frame: Frame, at time: FrameTime
  ) async throws -> [String: AnalysisValue] {
    try await self.analysis.analyze(frame, at: time)
  }
}

/// A value that an analysis reports.
public enum AnalysisValue: Sendable, Hashable {
  /// A number.
  case number(Double)
  /// Numbers, such as a histogram.
  case vector([Double])
  /// A name.
  case text(String)
  /// A detected region of the frame, with a confidence of 0 ... 1.
  case region(Region, confidence: Double, id: UInt64)
  /// A list of values.
  case list([AnalysisValue])
}
