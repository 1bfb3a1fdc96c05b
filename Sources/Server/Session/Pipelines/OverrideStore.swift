import GRPCCore
import GRPCProtobuf
package import SidelightKernels
import Synchronization

/// The operators' overrides, which outlive the sessions that they apply to.
///
/// A client can end its session at any time, and open another with a resume token from before the
/// override, or without a token. So the store keeps a decision by lineage, which tokens name, and
/// finds it by participant and label for a session without a token. A decision about a participant
/// applies to all of its sessions. The store keeps a decision until its end time, on this server
/// only; on other servers the lifetime of tokens bounds the use of an old one
/// (docs/reference/protocol.md, "Overrides").
///
/// If several decisions apply to a session, the last one counts. When it expires, the one before it
/// counts again.
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

  /// A track of a caller or participant, identified by its label.
  private struct Track: Sendable, Hashable {
    var identity: CallerIdentity
    var label: String

    /// - Returns: `nil` for an empty label, which identifies no track.
    init?(identity: CallerIdentity, label: String) {
      guard !label.isEmpty else { return nil }
      self.identity = identity
      self.label = label
    }
  }

  /// The participants of a name: of one caller, or of all callers.
  package struct Participants: Sendable, Hashable {
    /// The participant's name.
    package var name: String
    /// ``CallerIdentity/listedCaller``; `nil` for all callers.
    package var caller: String?

    package init(name: String, caller: String?) {
      self.name = name
      self.caller = caller
    }

    /// Returns whether a session's caller and participant are among them.
    package func contains(_ identity: CallerIdentity) -> Bool {
      identity.participant == self.name
        && self.caller.map { $0 == identity.listedCaller } ?? true
    }
  }

  /// The sessions to which a decision applies.
  private enum Target: Sendable, Hashable {
    case lineage(SessionLineage)
    case participants(Participants)
  }

  private struct Entry {
    var decision: Decision
    /// The caller or participant of a lineage; `nil` for participants.
    var identity: CallerIdentity?
    /// Counts the decisions.
    var number: UInt64
  }

  private struct State {
    var entries: [Target: Entry] = [:]
    /// The lineage of the last decision for a track.
    var lineages: [Track: SessionLineage] = [:]
    var count: UInt64 = 0

    /// Stores a decision.
    ///
    /// - Parameter identity: The caller or participant of a lineage; `nil` keeps the one that is
    ///   stored.
    /// - Returns: Whether there was room.
    mutating func record(
      _ decision: Decision, for target: Target, of identity: CallerIdentity? = nil,
      at now: Duration
    ) -> Bool {
      if self.entries[target] == nil, self.entries.count >= OverrideStore.capacity {
        self.removeExpired(at: now)
        guard self.entries.count < OverrideStore.capacity else { return false }
      }
      self.count += 1
      self.entries[target] = Entry(
        decision: decision, identity: identity ?? self.entries[target]?.identity,
        number: self.count)
      return true
    }

    /// Returns whether there is room for the lineage of a track, after removing expired ones.
    mutating func hasRoom(for track: Track, at now: Duration) -> Bool {
      guard self.lineages[track] == nil, self.lineages.count >= OverrideStore.capacity else {
        return true
      }
      self.removeExpired(at: now)
      return self.lineages.count < OverrideStore.capacity
    }

    /// Returns the decision that counts for a session; `nil` if there is none.
    func decision(
      for lineage: SessionLineage, of identity: CallerIdentity, at now: Duration
    ) -> Decision? {
      self.entries(for: lineage, of: identity, at: now).max { $0.number < $1.number }?.decision
    }

    /// Returns the decisions that apply to a session, in no order.
    func entries(
      for lineage: SessionLineage, of identity: CallerIdentity, at now: Duration
    ) -> [Entry] {
      var targets = [Target.lineage(lineage)]
      if identity.isParticipant {
        for caller in [identity.listedCaller, nil] {
          targets.append(.participants(Participants(name: identity.participant, caller: caller)))
        }
      }
      return targets.compactMap { self.entries[$0] }.filter { $0.decision.end > now }
    }

    mutating func removeExpired(at now: Duration) {
      self.entries = self.entries.filter { $0.value.decision.end > now }
      let entries = self.entries
      self.lineages = self.lineages.filter { entries[.lineage($0.value)] != nil }
    }
  }

  /// The number of decisions that the store can keep.
  package static let capacity = 1024

  private let state = Mutex(State())

  package init() {}

  /// Stores a decision about a lineage. Replaces an earlier one.
  ///
  /// - Parameters:
  ///   - identity: The caller or participant of the lineage's sessions.
  ///   - label: The label of the session, which identifies its track unless it is empty.
  /// - Throws: RESOURCE_EXHAUSTED if ``capacity`` other decisions are in effect, or decisions for
  ///   as many other tracks.
  package func record(
    _ decision: Decision, for lineage: SessionLineage, of identity: CallerIdentity, label: String,
    at now: Duration
  ) throws {
    let track = Track(identity: identity, label: label)
    let hasCapacity = self.state.withLock { state in
      if let track {
        guard state.hasRoom(for: track, at: now) else { return false }
      }
      guard state.record(decision, for: .lineage(lineage), of: identity, at: now) else {
        return false
      }
      if let track { state.lineages[track] = lineage }
      return true
    }
    guard hasCapacity else { throw Self.full }
  }

  /// Stores a decision about all sessions of participants. Replaces an earlier one.
  ///
  /// - Throws: RESOURCE_EXHAUSTED if ``capacity`` other decisions are in effect.
  package func record(
    _ decision: Decision, for participants: Participants, at now: Duration
  ) throws {
    let hasCapacity = self.state.withLock { state in
      state.record(decision, for: .participants(participants), at: now)
    }
    guard hasCapacity else { throw Self.full }
  }

  /// Records that all overrides of a lineage were ended before their time.
  ///
  /// - Parameters:
  ///   - identity: The caller or participant of the lineage's sessions.
  ///   - end: The time until which the override was to last; `nil` if none is in force.
  /// - Throws: RESOURCE_EXHAUSTED if the override is one of all sessions of the participant, and
  ///   ``capacity`` other decisions are in effect.
  package func lift(
    _ lineage: SessionLineage, of identity: CallerIdentity, until end: Duration?,
    at now: Duration
  ) throws {
    let hasCapacity = self.state.withLock { state in
      // An earlier override that lasts longer does not count again.
      let ends = state.entries(for: lineage, of: identity, at: now).map(\.decision.end)
      let last = max(ends.max() ?? now, end ?? now)
      return last <= now
        || state.record(.lifted(until: last), for: .lineage(lineage), of: identity, at: now)
    }
    guard hasCapacity else { throw Self.full }
  }

  /// Records that the overrides of participants were ended before their time, also those of single
  /// sessions, whether the sessions are open or not.
  ///
  /// - Parameter end: The time until which the overrides of open sessions were to last; `nil` if
  ///   none is in force.
  /// - Throws: RESOURCE_EXHAUSTED if there is no decision about just these participants, and
  ///   ``capacity`` other decisions are in effect.
  package func lift(
    _ participants: Participants, until end: Duration? = nil, at now: Duration
  ) throws {
    let hasCapacity = self.state.withLock { state in
      // Resume tokens of another server may contain an override that this one has not recorded.
      var lastEnd = end ?? now
      var lifted: [Target: Duration] = [:]
      for (target, entry) in state.entries where entry.decision.end > now {
        switch target {
        case .lineage:
          guard let identity = entry.identity, participants.contains(identity) else { continue }
          lifted[target] = entry.decision.end
        case .participants(let other):
          guard other.name == participants.name,
            participants.caller == nil || other.caller == nil
              || other.caller == participants.caller
          else { continue }
          // Other callers keep the override of the participants of all callers.
          if other.caller == nil {
            lastEnd = max(lastEnd, entry.decision.end)
          } else {
            lifted[target] = entry.decision.end
          }
        }
      }
      // First, because the others are stored already: without room nothing changes.
      if lastEnd > now {
        let end = max(lastEnd, lifted.removeValue(forKey: .participants(participants)) ?? now)
        guard state.record(.lifted(until: end), for: .participants(participants), at: now) else {
          return false
        }
      }
      for (target, end) in lifted {
        _ = state.record(.lifted(until: end), for: target, at: now)
      }
      return true
    }
    guard hasCapacity else { throw Self.full }
  }

  /// Returns the decision for a session; `nil` if there is none, or it has expired.
  package func decision(
    for lineage: SessionLineage, of identity: CallerIdentity, at now: Duration
  ) -> Decision? {
    self.state.withLock { $0.decision(for: lineage, of: identity, at: now) }
  }

  /// Returns the lineage whose override applies to a new session of a track; `nil` if there is
  /// none.
  package func lineage(
    of identity: CallerIdentity, label: String, at now: Duration
  ) -> SessionLineage? {
    guard let track = Track(identity: identity, label: label) else { return nil }
    return self.state.withLock { state in
      guard let lineage = state.lineages[track],
        case .forced(_, _, let end)? = state.entries[.lineage(lineage)]?.decision, end > now
      else { return nil }
      return lineage
    }
  }

  private static let full = GoogleRPCStatus(
    code: .resourceExhausted,
    message: "\(OverrideStore.capacity) overrides are in effect, which is the limit; end one first."
  )
}
