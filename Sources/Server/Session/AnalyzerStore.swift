package import SidelightKernels
import Synchronization

/// What a session's analyses are doing: the lane keeps it, and the reader asks before it copies a picture
/// for them.
final class AnalyzerStore: Sendable {
  private struct State {
    /// What is remembered, by stage.
    var slots: [String: AnalyzerSlot] = [:]
    /// The frames that the lane was given and has not done with, by their arrivals.
    var frames: Set<UInt64> = []
  }

  private let state = Mutex(State())

  /// Whether one of the analyses would look at a frame that is offered now, and not at another that is
  /// there already or while it still looks at one.
  func isFree(for analyses: [PlannedAnalysis]) -> Bool {
    self.state.withLock { state in
      state.frames.isEmpty
        && analyses.contains { analysis in
          guard let slot = state.slots[analysis.stage] else { return true }
          return slot.isIdle || slot.identity != analysis.identity
        }
    }
  }

  /// A frame is offered to the lane.
  func begin(_ arrival: UInt64) {
    self.state.withLock { _ = $0.frames.insert(arrival) }
  }

  /// The lane has done with a frame, or never gets it. Later calls do nothing.
  func end(_ arrival: UInt64) {
    self.state.withLock { _ = $0.frames.remove(arrival) }
  }

  /// Of stages that are gone nothing is remembered.
  ///
  /// - Parameter stages: Those that the pipeline has.
  func removeAll(except stages: [String]) {
    self.state.withLock { state in
      guard state.slots.count > stages.count else { return }
      state.slots = state.slots.filter { stages.contains($0.key) }
    }
  }

  /// An analysis keeps what it remembers while its stage holds the same filter with the same
  /// parameters, also when it was turned off in between. With others it begins anew.
  func slot(for analysis: PlannedAnalysis) -> AnalyzerSlot {
    let known = self.state.withLock { $0.slots[analysis.stage] }
    if let known, known.identity == analysis.identity { return known }
    let slot = AnalyzerSlot(analysis)
    self.state.withLock { $0.slots[analysis.stage] = slot }
    return slot
  }
}

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

/// Says which analyses look at which frame: each at every nth of those that it could see.
package struct AnalysisSchedule: Sendable {
  /// Frames since the last look, by stage.
  private var waited: [String: Int] = [:]

  package init() {}

  /// A frame comes.
  ///
  /// - Parameters:
  ///   - analyses: Those of the pipeline in force.
  ///   - isReduced: Whether time is short: then they look half as often.
  /// - Returns: Those that look at the frame.
  package mutating func due(
    among analyses: [PlannedAnalysis], isReduced: Bool
  ) -> [PlannedAnalysis] {
    // Of stages that are gone nothing needs to be known.
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

  /// Analyses that were due did not look: they are due at the next frame.
  package mutating func postpone(_ analyses: [PlannedAnalysis]) {
    for analysis in analyses { self.waited[analysis.stage] = nil }
  }
}
