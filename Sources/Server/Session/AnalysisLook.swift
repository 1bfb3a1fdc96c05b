import SidelightKernels
import Synchronization

/// An analysis of a session: its analyzer, lent out while it looks at a frame.
final class AnalyzerSlot: Sendable {
  private struct State {
    /// `nil` while it looks.
    var analyzer: (any FrameAnalyzer)?
    /// Whether the client knows that it fails.
    var hasFailed = false
  }

  /// Which filter it is, with which parameters.
  let identity: PlannedAnalysis.Identity
  private let state: Mutex<State>

  init(_ analysis: PlannedAnalysis) {
    self.identity = analysis.identity
    self.state = Mutex(State(analyzer: analysis.analysis.makeAnalyzer()))
  }

  /// Whether it does not look at a frame.
  var isIdle: Bool { self.state.withLock { $0.analyzer != nil } }

  /// It is to look at a frame.
  ///
  /// - Returns: The analyzer; `nil` if it is looking at another yet.
  func begin() -> (any FrameAnalyzer)? {
    self.state.withLock { $0.analyzer.take() }
  }

  /// It has looked.
  func end(with analyzer: any FrameAnalyzer) {
    self.state.withLock { $0 = State(analyzer: analyzer) }
  }

  /// It has failed.
  ///
  /// - Returns: Whether that is news.
  func fail(with analyzer: any FrameAnalyzer) -> Bool {
    self.state.withLock { state in
      defer { state = State(analyzer: analyzer, hasFailed: true) }
      return !state.hasFailed
    }
  }
}
