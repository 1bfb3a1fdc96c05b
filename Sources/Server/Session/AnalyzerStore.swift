package import SidelightKernels
import Synchronization

/// The analyzers of a session, by stage. The reader reads it before it copies a picture for an
/// analysis.
final class AnalyzerStore: Sendable {
  private struct State {
    /// The analyzers, by stage.
    var slots: [String: AnalyzerSlot] = [:]
    /// The arrivals of frames that wait for the analysis worker or are with it.
    var frames: Set<UInt64> = []
  }

  private let state = Mutex(State())

  /// Returns whether a frame that is offered now would be analyzed: other frames are not waiting,
  /// and one of the analyses is idle.
  func isFree(for analyses: [PlannedAnalysis]) -> Bool {
    self.state.withLock { state in
      state.frames.isEmpty
        && analyses.contains { analysis in
          guard let slot = state.slots[analysis.stage] else { return true }
          return slot.isIdle || slot.identity != analysis.identity
        }
    }
  }

  /// Records that a frame is offered to the analysis worker.
  func begin(_ arrival: UInt64) {
    self.state.withLock { _ = $0.frames.insert(arrival) }
  }

  /// Records that the analysis worker is done with a frame, or will never get it. Later calls have
  /// no effect.
  func end(_ arrival: UInt64) {
    self.state.withLock { _ = $0.frames.remove(arrival) }
  }

  /// Removes the analyzers of all other stages.
  ///
  /// - Parameter stages: The stages of the pipeline.
  func removeAll(except stages: [String]) {
    self.state.withLock { state in
      guard state.slots.count > stages.count else { return }
      state.slots = state.slots.filter { stages.contains($0.key) }
    }
  }

  /// Returns the slot of an analysis. The analyzer keeps its state while its stage has the same
  /// filter with the same parameters, even if it was turned off in between.
  func slot(for analysis: PlannedAnalysis) -> AnalyzerSlot {
    let known = self.state.withLock { $0.slots[analysis.stage] }
    if let known, known.identity == analysis.identity { return known }
    let slot = AnalyzerSlot(analysis)
    self.state.withLock { $0.slots[analysis.stage] = slot }
    return slot
  }
}

/// The slot of one analyzer, which is empty while the analyzer runs.
final class AnalyzerSlot: Sendable {
  private struct State {
    /// `nil` while it runs.
    var analyzer: (any FrameAnalyzer)?
    /// Whether its last run failed.
    var hasFailed = false
  }

  /// The filter and its parameters.
  let identity: PlannedAnalysis.Identity
  private let state: Mutex<State>

  init(_ analysis: PlannedAnalysis) {
    self.identity = analysis.identity
    self.state = Mutex(State(analyzer: analysis.analysis.makeAnalyzer()))
  }

  /// Whether the analyzer does not run.
  var isIdle: Bool { self.state.withLock { $0.analyzer != nil } }

  /// Takes the analyzer for a run.
  ///
  /// - Returns: `nil` if it is still running.
  func begin() -> (any FrameAnalyzer)? {
    self.state.withLock { $0.analyzer.take() }
  }

  /// Returns the analyzer after a run.
  func end(with analyzer: any FrameAnalyzer) {
    self.state.withLock { $0 = State(analyzer: analyzer) }
  }

  /// Returns the analyzer after a run that failed.
  ///
  /// - Returns: Whether the run before succeeded.
  func fail(with analyzer: any FrameAnalyzer) -> Bool {
    self.state.withLock { state in
      defer { state = State(analyzer: analyzer, hasFailed: true) }
      return !state.hasFailed
    }
  }
}

/// Selects the analyses that are due for a frame: every nth frame that an analysis could see.
package struct AnalysisSchedule: Sendable {
  /// The frames since the last analysis, by stage.
  private var waited: [String: Int] = [:]

  package init() {}

  /// Counts a frame.
  ///
  /// - Parameters:
  ///   - analyses: The analyses of the active pipeline.
  ///   - isReduced: Whether the session is short of time. Analyses are then due half as often.
  /// - Returns: The analyses that are due for the frame.
  package mutating func due(
    among analyses: [PlannedAnalysis], isReduced: Bool
  ) -> [PlannedAnalysis] {
    if self.waited.count > analyses.count {
      let stages = Set(analyses.map(\.stage))
      self.waited = self.waited.filter { stages.contains($0.key) }
    }
    return analyses.filter { analysis in
      let every = analysis.everyNth * (isReduced ? 2 : 1)
      let waited = (self.waited[analysis.stage] ?? every - 1) + 1
      self.waited[analysis.stage] = waited >= every ? 0 : waited
      return waited >= every
    }
  }

  /// Makes analyses that did not run due for the next frame.
  package mutating func postpone(_ analyses: [PlannedAnalysis]) {
    for analysis in analyses { self.waited[analysis.stage] = nil }
  }
}
