import GRPCCore
import GRPCProtobuf
package import SidelightKernels
import Synchronization

/// The operators' overrides, which outlive the sessions that they apply to.
///
/// A client can end its session at any time, and open another with a resume token from before the
/// override or of another session, or without a token. So the store keeps a decision by lineage,
/// which tokens name, and finds overrides by caller, participant and label too, for sessions with
/// and without a token. A decision about a participant applies to all of its sessions. The store
/// keeps a decision until its end time. Servers that share their state exchange their decisions
/// (``Record``); on others the lifetime of tokens bounds the use of an old one
/// (docs/reference/protocol.md, "Overrides").
///
/// If several decisions apply to a session, the last one counts. When it expires, the one before it
/// counts again.
package final class OverrideStore: Sendable {
  /// An operator's decision.
  package enum Decision: Sendable {
    /// A forced pipeline, until the given time on the sessions' clock.
    case forced(Pipeline, reason: String, until: Duration)
    /// An override ended before its time. Tokens that still contain it do not restore it.
    case lifted(until: Duration)

    /// The time at which the decision expires.
    package var end: Duration {
      switch self {
      case .forced(_, _, let end), .lifted(let end): end
      }
    }

    fileprivate var isForced: Bool {
      if case .forced = self { true } else { false }
    }
  }

  /// A session, as the store finds the decisions for it.
  package struct Session: Sendable {
    package var lineage: SessionLineage
    /// The caller or participant.
    package var identity: CallerIdentity
    /// The label, which identifies the session's track unless it is empty.
    package var label: String

    package init(lineage: SessionLineage, identity: CallerIdentity, label: String) {
      self.lineage = lineage
      self.identity = identity
      self.label = label
    }

    fileprivate var track: Track? { Track(identity: self.identity, label: self.label) }

    /// Returns whether a decision about another session applies to this one: they have the same
    /// lineage, or belong to the same track.
    package func follows(_ other: Session) -> Bool {
      self.lineage == other.lineage || self.track.map { $0 == other.track } ?? false
    }
  }

  /// A track of a caller or participant, identified by its label.
  fileprivate struct Track: Sendable, Hashable {
    var identity: CallerIdentity
    var label: String

    /// - Returns: `nil` for an empty label.
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
    /// ``CallerIdentity/listedCaller``, or `nil` for all callers.
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
  fileprivate enum Target: Sendable, Hashable {
    case lineage(SessionLineage)
    case participants(Participants)
  }

  /// A decision and its target, as the servers of a fleet exchange them.
  package struct Record: Sendable {
    /// The sessions to which a decision applies.
    package enum Target: Sendable {
      /// The sessions of a lineage and of its track.
      case session(Session)
      case participants(Participants)

      fileprivate var key: OverrideStore.Target {
        switch self {
        case .session(let session): .lineage(session.lineage)
        case .participants(let participants): .participants(participants)
        }
      }
    }

    package var target: Target
    package var decision: Decision
    /// Orders the decisions of a fleet: the time in nanoseconds since 1970.
    package var number: UInt64

    package init(target: Target, decision: Decision, number: UInt64) {
      self.target = target
      self.decision = decision
      self.number = number
    }

    fileprivate var session: Session? {
      if case .session(let session) = self.target { session } else { nil }
    }
  }

  /// The outcome of storing another server's decision.
  package enum Merging: Sendable {
    /// The store did not have it. It ends other decisions.
    case new(ending: [Decision])
    case known
    case expired
    /// Twice the ``capacity`` is in effect.
    case full
  }

  private struct Entry {
    var decision: Decision
    /// A session of the lineage, or `nil` for participants.
    var session: Session?
    /// Orders the decisions: the time in nanoseconds since 1970.
    var number: UInt64
  }

  private struct State {
    /// The decisions per target that apply or will apply again, the last one at the end.
    var entries: [Target: [Entry]] = [:]
    /// The lineages of the decisions for a track.
    var lineages: [Track: Set<SessionLineage>] = [:]
    /// The number of the last decision.
    var lastNumber: UInt64 = 0
    /// Receives an element after every decision of this server.
    var changes: AsyncStream<Void>.Continuation?
    /// Returns the nanoseconds since 1970.
    let wallNow: @Sendable () -> UInt64

    /// Stores a decision. An override keeps earlier ones that last longer; its end removes them.
    ///
    /// - Parameter session: A session of a lineage; `nil` keeps the one that is stored.
    /// - Returns: Whether the store had room.
    mutating func record(
      _ decision: Decision, for target: Target, of session: Session? = nil, at now: Duration
    ) -> Bool {
      let earlier = self.entries[target] ?? []
      var kept = decision.isForced ? earlier.filter { $0.decision.end > decision.end } : []
      if kept.count >= earlier.count, !self.hasRoom(at: now) { return false }
      // At random in a millisecond, because servers must not choose the same number.
      self.lastNumber = max(self.lastNumber, self.wallNow()) + .random(in: 1 ... 1_000_000)
      kept.append(
        Entry(
          decision: decision, session: session ?? earlier.last?.session, number: self.lastNumber))
      self.entries[target] = kept
      self.changes?.yield()
      return true
    }

    /// Stores a decision of another server in the order of the numbers.
    mutating func merge(_ record: Record, at now: Duration) -> Merging {
      let target = record.target.key
      let earlier = self.entries[target] ?? []
      // Other servers have room for as many decisions, so this one needs more for all of them.
      guard record.decision.end > now else { return .expired }
      guard !earlier.contains(where: { $0.number == record.number }) else { return .known }
      guard self.hasRoom(at: now, beyond: OverrideStore.capacity) else { return .full }
      self.lastNumber = max(self.lastNumber, record.number)
      let new = Entry(decision: record.decision, session: record.session, number: record.number)
      var kept: [Entry] = []
      for entry in (earlier + [new]).sorted(by: { $0.number < $1.number }) {
        kept =
          entry.decision.isForced ? kept.filter { $0.decision.end > entry.decision.end } : []
        kept.append(entry)
      }
      self.entries[target] = kept
      if record.decision.isForced, let session = record.session, let track = session.track {
        self.lineages[track, default: []].insert(session.lineage)
      }
      let numbers = Set(kept.map(\.number))
      return .new(ending: earlier.filter { !numbers.contains($0.number) }.map(\.decision))
    }

    /// Returns whether the store has room for another decision, after removing expired ones.
    ///
    /// - Parameter extra: The number of decisions beyond the capacity.
    private mutating func hasRoom(at now: Duration, beyond extra: Int = 0) -> Bool {
      func count() -> Int { self.entries.values.reduce(0) { $0 + $1.count } }
      guard count() >= OverrideStore.capacity + extra else { return true }
      self.removeExpired(at: now)
      return count() < OverrideStore.capacity + extra
    }

    /// Returns whether the store has room for a lineage of a track, after removing expired ones.
    mutating func hasRoom(
      for lineage: SessionLineage, of track: Track, at now: Duration
    ) -> Bool {
      func count() -> Int { self.lineages.values.reduce(0) { $0 + $1.count } }
      guard self.lineages[track]?.contains(lineage) != true, count() >= OverrideStore.capacity
      else { return true }
      self.removeExpired(at: now)
      return count() < OverrideStore.capacity
    }

    /// Returns the decision that applies to a session, if any.
    func decision(for session: Session, at now: Duration) -> Decision? {
      self.entries(for: session, at: now).max { $0.number < $1.number }?.decision
    }

    /// Returns the decisions that apply to a session, unordered.
    func entries(for session: Session, at now: Duration) -> [Entry] {
      var targets = [Target.lineage(session.lineage)]
      let identity = session.identity
      if identity.isParticipant {
        for caller in [identity.listedCaller, nil] {
          targets.append(.participants(Participants(name: identity.participant, caller: caller)))
        }
      }
      let own = targets.flatMap { self.entries[$0] ?? [] }.filter { $0.decision.end > now }
      let others = session.track.map { self.overrides(of: $0, at: now) } ?? []
      return own + others.filter { $0.lineage != session.lineage }.map(\.entry)
    }

    /// Returns the active overrides for a track's sessions, and their lineages.
    func overrides(
      of track: Track, at now: Duration
    ) -> [(lineage: SessionLineage, entry: Entry)] {
      (self.lineages[track] ?? []).flatMap { lineage in
        (self.entries[.lineage(lineage)] ?? [])
          .filter { $0.decision.isForced && $0.decision.end > now }.map { (lineage, $0) }
      }
    }

    mutating func removeExpired(at now: Duration) {
      self.entries = self.entries
        .mapValues { $0.filter { $0.decision.end > now } }.filter { !$0.value.isEmpty }
      let entries = self.entries
      self.lineages = self.lineages
        .mapValues { $0.filter { entries[.lineage($0)] != nil } }.filter { !$0.value.isEmpty }
    }
  }

  /// The store's maximum number of decisions.
  package static let capacity = 1024

  private let state: Mutex<State>

  /// - Parameter wallNow: Returns the nanoseconds since 1970, which order the decisions of a fleet.
  package init(wallNow: @escaping @Sendable () -> UInt64 = { 0 }) {
    self.state = Mutex(State(wallNow: wallNow))
  }

  /// Stores a decision about a session, its lineage's sessions, and later sessions of its track.
  ///
  /// - Throws: RESOURCE_EXHAUSTED if ``capacity`` other decisions are in effect, or decisions for
  ///   as many other lineages of tracks.
  package func record(_ decision: Decision, for session: Session, at now: Duration) throws {
    let hasCapacity = self.state.withLock { state in
      if let track = session.track {
        guard state.hasRoom(for: session.lineage, of: track, at: now) else { return false }
      }
      guard
        state.record(decision, for: .lineage(session.lineage), of: session, at: now)
      else { return false }
      if let track = session.track {
        state.lineages[track, default: []].insert(session.lineage)
      }
      return true
    }
    guard hasCapacity else { throw Self.full }
  }

  /// Stores a decision about all sessions of participants.
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

  /// Records that all overrides of a session's lineage were ended before their time.
  ///
  /// - Parameter end: The end time of the override, or `nil` if no override is active.
  /// - Throws: RESOURCE_EXHAUSTED if the override covers more than the lineage, and ``capacity``
  ///   other decisions are in effect.
  package func lift(_ session: Session, until end: Duration?, at now: Duration) throws {
    let hasCapacity = self.state.withLock { state in
      // An earlier override that lasts longer does not count again.
      let ends = state.entries(for: session, at: now).map(\.decision.end)
      let last = max(ends.max() ?? now, end ?? now)
      return last <= now
        || state.record(
          .lifted(until: last), for: .lineage(session.lineage), of: session, at: now)
    }
    guard hasCapacity else { throw Self.full }
  }

  /// Records that the overrides of participants were ended before their time, including overrides
  /// of single sessions, whether the sessions are open or not.
  ///
  /// - Parameter end: The end time of the open sessions' overrides, or `nil` if no override is
  ///   active.
  /// - Throws: RESOURCE_EXHAUSTED if ``capacity`` other decisions are in effect, and the store has
  ///   no decision about just these participants.
  package func lift(
    _ participants: Participants, until end: Duration? = nil, at now: Duration
  ) throws {
    let hasCapacity = self.state.withLock { state in
      // Resume tokens of another server may contain an override that this one has not recorded.
      var lastEnd = end ?? now
      var lifted: [Target: Duration] = [:]
      for (target, entries) in state.entries {
        guard let last = entries.map(\.decision.end).max(), last > now else { continue }
        switch target {
        case .lineage:
          guard let identity = entries.last?.session?.identity, participants.contains(identity)
          else { continue }
          lifted[target] = last
        case .participants(let other):
          guard other.name == participants.name,
            participants.caller == nil || other.caller == nil
              || other.caller == participants.caller
          else { continue }
          // Other callers keep the override of the participants of all callers.
          if other.caller == nil {
            lastEnd = max(lastEnd, last)
          } else {
            lifted[target] = last
          }
        }
      }
      // First, because the others are stored already: without room the store stays unchanged.
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

  /// Returns the decision for a session, or `nil` if it is missing or has expired.
  package func decision(for session: Session, at now: Duration) -> Decision? {
    self.state.withLock { $0.decision(for: session, at: now) }
  }

  /// Returns the lineage whose override applies to a new session of a track, if any.
  package func lineage(
    of identity: CallerIdentity, label: String, at now: Duration
  ) -> SessionLineage? {
    guard let track = Track(identity: identity, label: label) else { return nil }
    return self.state.withLock { state in
      state.overrides(of: track, at: now).max { $0.entry.number < $1.entry.number }?.lineage
    }
  }

  // MARK: Fleet

  /// The decisions that have not expired.
  package func records(at now: Duration) -> [Record] {
    self.state.withLock { state in
      state.entries.flatMap { target, entries in
        entries.compactMap { entry -> Record? in
          guard entry.decision.end > now else { return nil }
          let sessions: Record.Target? =
            switch target {
            case .lineage: entry.session.map { .session($0) }
            case .participants(let participants): .participants(participants)
            }
          return sessions.map {
            Record(target: $0, decision: entry.decision, number: entry.number)
          }
        }
      }
    }
  }

  /// Returns a sequence with an element after one or more decisions of this server. It replaces
  /// the sequence of an earlier call.
  package func changes() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.state.withLock { $0.changes = continuation }
    return stream
  }

  /// Stores a decision of another server of the fleet.
  package func merge(_ record: Record, at now: Duration) -> Merging {
    self.state.withLock { $0.merge(record, at: now) }
  }

  private static let full = GoogleRPCStatus(
    code: .resourceExhausted,
    message: "\(OverrideStore.capacity) overrides are in effect, which is the limit; end one first."
  )
}
