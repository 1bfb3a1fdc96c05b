import GRPCCore
import GRPCProtobuf
package import SidelightKernels
import Synchronization

/// The overrides that operators have decided, so that each outlives the session that it was decided for.
///
/// A client can end its session at any time, and open another with a resume token from before the
/// override, or with none. So a decision is kept by lineage, which tokens name, and found again by caller
/// and label for sessions that are opened without a token. It is kept until its time is over, on this
/// server only; what other servers do is bounded by the lifetime of tokens (docs/reference/protocol.md, "Overrides").
package final class OverrideStore: Sendable {
  /// An operator's decision.
  package enum Decision: Sendable {
    /// A pipeline is forced, until the given time on the sessions' clock.
    case forced(Pipeline, reason: String, until: Duration)
    /// An override was ended before its time. Tokens that still hold it do not bring it back.
    case lifted(until: Duration)

    /// When the decision has no effect any more.
    var end: Duration {
      switch self {
      case .forced(_, _, let end), .lifted(let end): end
      }
    }
  }

  /// A caller's track, as far as its label tells it apart.
  package struct Track: Sendable, Hashable {
    var caller: String
    var label: String

    /// - Returns: `nil` for an empty label, which says nothing.
    package init?(caller: String, label: String) {
      guard !label.isEmpty else { return nil }
      self.caller = caller
      self.label = label
    }
  }

  private struct Entry {
    var decision: Decision
    var track: Track?
  }

  private struct State {
    var entries: [SessionLineage: Entry] = [:]
    /// The lineage of the last decision for a track.
    var lineages: [Track: SessionLineage] = [:]

    mutating func removeExpired(at now: Duration) {
      self.entries = self.entries.filter { $0.value.decision.end > now }
      let entries = self.entries
      self.lineages = self.lineages.filter { entries[$0.value] != nil }
    }
  }

  /// Decisions that are kept at a time.
  package static let capacity = 1024

  private let state = Mutex(State())

  package init() {}

  /// Keeps a decision, in place of an earlier one for the same lineage.
  ///
  /// - Throws: RESOURCE_EXHAUSTED if ``capacity`` others are in force.
  package func record(
    _ decision: Decision, for lineage: SessionLineage, track: Track?, at now: Duration
  ) throws {
    let isRoom = self.state.withLock { state in
      if state.entries[lineage] == nil, state.entries.count >= Self.capacity {
        state.removeExpired(at: now)
        guard state.entries.count < Self.capacity else { return false }
      }
      state.entries[lineage] = Entry(decision: decision, track: track)
      if let track { state.lineages[track] = lineage }
      return true
    }
    guard isRoom else {
      throw GoogleRPCStatus(
        code: .resourceExhausted,
        message: "\(Self.capacity) overrides are in force, which is the limit.")
    }
  }

  /// Notes that an override was ended before its time.
  package func lift(_ lineage: SessionLineage, at now: Duration) {
    self.state.withLock { state in
      guard let entry = state.entries[lineage], entry.decision.end > now else { return }
      state.entries[lineage]?.decision = .lifted(until: entry.decision.end)
    }
  }

  /// The decision for a lineage; `nil` if there is none, or its time is over.
  package func decision(for lineage: SessionLineage, at now: Duration) -> Decision? {
    self.state.withLock { state in
      guard let decision = state.entries[lineage]?.decision, decision.end > now else { return nil }
      return decision
    }
  }

  /// The lineage whose override holds for a new session of a track; `nil` if none does.
  package func lineage(ofTrack track: Track?, at now: Duration) -> SessionLineage? {
    guard let track else { return nil }
    return self.state.withLock { state in
      guard let lineage = state.lineages[track],
        case .forced(_, _, let end)? = state.entries[lineage]?.decision, end > now
      else { return nil }
      return lineage
    }
  }
}
