import SidelightKernels
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
