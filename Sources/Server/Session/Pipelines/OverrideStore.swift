import GRPCCore
import GRPCProtobuf
package import SidelightKernels
import Synchronization

/// The operators' overrides, which outlive the sessions that they apply to.
///
/// A client can end its session at any time, and open another with a resume token from before the
/// override, or without a token. So the store keeps a decision by lineage, which tokens name, and
/// finds it by caller and label for a session without a token. It keeps the decision until its end
/// time, on this server only; on other servers the lifetime of tokens bounds the use of an old one
/// (docs/reference/protocol.md, "Overrides").
package final class OverrideStore: Sendable {
  /// An operator's decision.
  package enum Decision: Sendable {
    /// A forced pipeline, until the given time on the sessions' clock.
    case forced(Pipeline, reason: String, until: Duration)
    /// An override that was ended before its time. Tokens that still contain it do not restore it.
    case lifted(until: Duration)

    /// The time at which the decision expires.
    var end: Duration {
      switch self {
      case .forced(_, _, let end), .lifted(let end): end
      }
    }
  }

  /// A caller's track, identified by its label.
  package struct Track: Sendable, Hashable {
    var caller: String
    var label: String

    /// - Returns: `nil` for an empty label, which identifies no track.
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

  /// The number of decisions that the store can keep.
  package static let capacity = 1024

  private let state = Mutex(State())

  package init() {}

  /// Stores a decision. Replaces an earlier one for the same lineage.
  ///
  /// - Throws: RESOURCE_EXHAUSTED if ``capacity`` other decisions are in effect.
  package func record(
    _ decision: Decision, for lineage: SessionLineage, track: Track?, at now: Duration
  ) throws {
    let hasCapacity = self.state.withLock { state in
      if state.entries[lineage] == nil, state.entries.count >= Self.capacity {
        state.removeExpired(at: now)
        guard state.entries.count < Self.capacity else { return false }
      }
      state.entries[lineage] = Entry(decision: decision, track: track)
      if let track { state.lineages[track] = lineage }
      return true
    }
    guard hasCapacity else {
      throw GoogleRPCStatus(
        code: .resourceExhausted,
        message: "\(Self.capacity) overrides are in effect, which is the limit; end one first.")
    }
  }

  /// Records that an override was ended before its time.
  package func lift(_ lineage: SessionLineage, at now: Duration) {
    self.state.withLock { state in
      guard let entry = state.entries[lineage], entry.decision.end > now else { return }
      state.entries[lineage]?.decision = .lifted(until: entry.decision.end)
    }
  }

  /// Returns the decision for a lineage; `nil` if there is none, or it has expired.
  package func decision(for lineage: SessionLineage, at now: Duration) -> Decision? {
    self.state.withLock { state in
      guard let decision = state.entries[lineage]?.decision, decision.end > now else { return nil }
      return decision
    }
  }

  /// Returns the lineage whose override applies to a new session of a track; `nil` if there is
  /// none.
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
