import GRPCCore
import GRPCProtobuf
import Synchronization

/// The open sessions, and the limits on new ones.
final class SessionRegistry: Sendable {
  /// The limits on new sessions.
  struct Limits: Sendable {
    /// The sessions of all callers.
    var total: Int
    /// The sessions of one caller.
    var perCaller: Int
    /// The sessions of one participant. `nil` disables the limit.
    var perParticipant: Int?
    /// The load (``AdmissionLoad``) at which sessions are refused. `nil` disables the limit.
    var load: Double?
  }

  private struct State {
    var limits: Limits
    /// The open and opening sessions, by caller.
    var callers: [String: Int] = [:]
    /// The open and opening sessions of participants.
    var participants: [CallerIdentity: Int] = [:]
    /// The sessions that wait for the other servers' use, by caller and by participant.
    var opening: [CallerIdentity: Int] = [:]
    var handles: [UInt64: SessionHandle] = [:]
    /// The number of changes to ``handles``.
    var version: UInt64 = 0
    var nextNumber: UInt64 = 0
    var closedSessionCounts = FrameCounts()
    var closedOutputCounts = FrameCounts()
    var refused: [AdmissionLimit: UInt64] = [:]

    mutating func endOpening(_ identity: CallerIdentity) {
      for level in identity.levels {
        self.opening[level] = self.opening[level].flatMap { $0 > 1 ? $0 - 1 : nil }
      }
    }
  }

  private let scheduler: FrameScheduler
  private let fleet: FleetQuotas
  private let state: Mutex<State>

  /// - Parameter fleet: The sessions at the other servers of a fleet, which count too.
  init(limits: Limits, scheduler: FrameScheduler, fleet: FleetQuotas = FleetQuotas()) {
    self.state = Mutex(State(limits: limits))
    self.scheduler = scheduler
    self.fleet = fleet
  }

  /// Changes the limits on new sessions. Open sessions continue.
  func setLimits(_ limits: Limits) { self.state.withLock { $0.limits = limits } }

  /// The number of open sessions.
  var count: Int { self.state.withLock { $0.callers.values.reduce(0, +) } }

  /// The open sessions, the oldest first.
  var handles: [SessionHandle] {
    self.state.withLock { $0.handles.values.sorted { $0.number < $1.number } }
  }

  /// The open sessions in no order.
  var unorderedHandles: [SessionHandle] { self.state.withLock { Array($0.handles.values) } }

  /// Returns a page of the open sessions, the oldest first.
  ///
  /// - Parameters:
  ///   - number: The number of the last session of the page before, or `nil` for the first page.
  ///   - label: The sessions' label, or empty for all sessions.
  ///   - participant: The sessions' participant, or empty for all sessions.
  ///   - count: The maximum number of sessions of the page.
  /// - Returns: The page, and whether it is the last one.
  func page(
    after number: UInt64?, label: String, participant: String, count: Int
  ) -> (handles: [SessionHandle], isLast: Bool) {
    let handles = self.handles.filter { handle in
      (label.isEmpty || handle.label == label)
        && (participant.isEmpty || handle.identity.participant == participant)
        && number.map { handle.number > $0 } ?? true
    }
    return (Array(handles.prefix(count)), handles.count <= count)
  }

  /// Returns the open session with an ID.
  func handle(_ id: String) -> SessionHandle? {
    self.state.withLock { $0.handles.values.first { $0.id == id } }
  }

  /// The frames of all sessions. Frames of a closed session only count with an outcome: a cancelled
  /// call does not report further outcomes.
  var totals: FrameCounts {
    let (closedSessionCounts, handles) = self.state.withLock {
      ($0.closedSessionCounts, Array($0.handles.values))
    }
    return handles.reduce(into: closedSessionCounts) { $0.add($1.counts) }
  }

  /// The frames of the named outputs of all sessions.
  var outputTotals: FrameCounts {
    let (closed, handles) = self.state.withLock {
      ($0.closedOutputCounts, Array($0.handles.values))
    }
    return handles.reduce(into: closed) { $0.add($1.outputCounts) }
  }

  /// The number of sessions accepted and refused since the server started.
  var admissions: (opened: UInt64, refused: [AdmissionLimit: UInt64]) {
    self.state.withLock { ($0.nextNumber, $0.refused) }
  }

  /// Admits a session for as long as `body` serves it.
  ///
  /// - Parameters:
  ///   - identity: The caller, or the participant for which it acts.
  ///   - resumes: Whether it continues a session, which another server may count until it ends
  ///     there: it may exceed the limits of a fleet by a tenth, at least by one.
  ///   - body: Receives the session's number for the scheduler.
  /// - Throws: RESOURCE_EXHAUSTED with `RetryInfo` if a limit is reached.
  func withAdmission<Result>(
    for identity: CallerIdentity, resumes: Bool = false,
    _ body: (_ number: UInt64) async throws -> Result
  ) async throws -> Result {
    let resumes = resumes && self.fleet.isJoined
    try self.reserve(identity, resumes: resumes)
    var number: UInt64?
    defer { self.release(identity, number) }
    await self.fleet.exchange(identity.caller)
    let admitted = try self.admit(identity, resumes: resumes)
    number = admitted
    return try await body(admitted)
  }

  /// Counts a session that opens, unless it exceeds a limit of this server.
  private func reserve(
    _ identity: CallerIdentity, resumes: Bool
  ) throws(GoogleRPCStatus) {
    let demands = self.scheduler.demands
    let refusal: GoogleRPCStatus? = self.state.withLock { state in
      if let (limit, refusal) = Self.refusal(of: identity, demands, resumes: resumes, state) {
        state.refused[limit, default: 0] += 1
        return refusal
      }
      state.callers[identity.caller, default: 0] += 1
      if identity.isParticipant { state.participants[identity, default: 0] += 1 }
      for level in identity.levels { state.opening[level, default: 0] += 1 }
      return nil
    }
    if let refusal { throw refusal }
  }

  /// Opens a counted session, unless it exceeds a limit together with those at other servers.
  ///
  /// - Returns: The session's number.
  private func admit(
    _ identity: CallerIdentity, resumes: Bool
  ) throws(GoogleRPCStatus) -> UInt64 {
    let others = self.fleet.others(of: identity.caller)
    return try self.state.withLock { state throws(GoogleRPCStatus) in
      state.endOpening(identity)
      if let (limit, refusal) = Self.refusal(of: identity, with: others, resumes: resumes, state) {
        state.refused[limit, default: 0] += 1
        throw refusal
      }
      defer { state.nextNumber += 1 }
      return state.nextNumber
    }
  }

  private func release(_ identity: CallerIdentity, _ number: UInt64?) {
    self.state.withLock { state in
      state.callers[identity.caller] =
        state.callers[identity.caller].flatMap { $0 > 1 ? $0 - 1 : nil }
      state.participants[identity] =
        state.participants[identity].flatMap { $0 > 1 ? $0 - 1 : nil }
      if let number, let handle = state.handles.removeValue(forKey: number) {
        state.version += 1
        state.closedSessionCounts.add(handle.counts.decided)
        state.closedOutputCounts.add(handle.outputCounts.decided)
      }
    }
    self.fleet.note(identity.caller)
  }

  /// The open and opening sessions of a caller, and those of its participants by name.
  func counts(of caller: String) -> (sessions: Int, participants: [String: Int]) {
    self.state.withLock { state in
      let participants = state.participants.filter { $0.key.caller == caller }
        .map { ($0.key.participant, $0.value) }
      return (state.callers[caller] ?? 0, Dictionary(uniqueKeysWithValues: participants))
    }
  }

  /// The callers with open or opening sessions.
  var callers: [String] { self.state.withLock { Array($0.callers.keys) } }

  /// Adds an open session.
  func add(_ handle: SessionHandle) {
    self.state.withLock { state in
      let caller = handle.identity.caller
      if state.handles.values.contains(where: { $0.composes && $0.identity.caller == caller }) {
        // A composition may show it from its next frame on; a source that sends one picture only
        // would be missed.
        handle.results.beginReading()
      }
      state.handles[handle.number] = handle
      state.version += 1
    }
  }

  /// Returns the newest open session of every track of a caller, without compositions.
  ///
  /// - Parameter version: A version of the open sessions.
  /// - Returns: The sessions and their version; `nil` if it is the given one.
  func tracks(
    of caller: String, since version: UInt64?
  ) -> (version: UInt64, tracks: [Composition.Source: SessionHandle])? {
    self.state.withLock { state in
      guard state.version != version else { return nil }
      var tracks: [Composition.Source: SessionHandle] = [:]
      for handle in state.handles.values where handle.identity.caller == caller && !handle.composes
      {
        let number = tracks[handle.track]?.number
        if number.map({ $0 < handle.number }) ?? true { tracks[handle.track] = handle }
      }
      return (state.version, tracks)
    }
  }

  /// Checks that the sources of a composition are not compositions themselves.
  ///
  /// - Throws: ``FieldViolation`` with the source's field, relative to the composition.
  func check(_ composition: Composition, of caller: String) throws(FieldViolation) {
    let composed = self.handles.filter { $0.identity.caller == caller && $0.composes }
    let index = composition.sources.firstIndex { source in
      composed.contains { $0.track == source }
    }
    guard let index else { return }
    throw FieldViolation(
      code: .failedPrecondition, field: "sources[\(index)]",
      reason: "is a composition, which cannot be a source; name its sources instead",
      info: .init(value: composition.sources[index].label))
  }

  private static func refusal(
    of identity: CallerIdentity, _ demands: [UInt64: Double], resumes: Bool,
    _ state: borrowing State
  ) -> (AdmissionLimit, GoogleRPCStatus)? {
    let limits = state.limits
    let total = state.callers.values.reduce(0, +)
    if total >= limits.total {
      return Self.refusal(
        .sessions, subject: "server", limit: "max_sessions is \(limits.total)",
        message: "The server has \(total) sessions; the limit (max_sessions) is \(limits.total).")
    }
    let caller = identity.caller
    let open = state.callers[caller] ?? 0
    if open >= limits.perCaller + Self.allowance(resumes, beyond: limits.perCaller) {
      return Self.refusal(
        .sessionsPerCaller, subject: caller,
        limit: "max_sessions_per_caller is \(limits.perCaller)",
        message: "\(caller) has \(open) sessions; the limit (max_sessions_per_caller) is "
          + "\(limits.perCaller).")
    }
    let openOfParticipant = state.participants[identity] ?? 0
    if identity.isParticipant, let limit = limits.perParticipant,
      openOfParticipant >= limit + Self.allowance(resumes, beyond: limit)
    {
      return Self.refusal(
        .sessionsPerParticipant, subject: "\(identity)",
        limit: "max_sessions_per_participant is \(limit)",
        message: "The \(identity) has \(openOfParticipant) sessions; the limit "
          + "(max_sessions_per_participant) is \(limit).")
    }
    if let limit = limits.load {
      var known: [AdmissionLoad.Demand] = []
      for (number, work) in demands {
        known.append(.init(caller: state.handles[number]?.identity.caller, work: work))
      }
      let load = AdmissionLoad(known, for: caller).value
      guard load < limit else {
        return Self.refusal(
          .load, subject: "server", limit: "max_load is \(limit)",
          message: "The open sessions demand \(Int(load * 100)) % of the server's capacity; "
            + "from \(Int(limit * 100)) % (max_load) on new sessions are refused.")
      }
    }
    return nil
  }

  /// Returns the number of sessions beyond a limit of a fleet.
  private static func allowance(_ resumes: Bool, beyond limit: Int) -> Int {
    resumes ? max(1, limit / 10) : 0
  }

  /// Returns the limit that a session exceeds together with the sessions at other servers, if any.
  /// The session counts already, and those that open after it do not.
  private static func refusal(
    of identity: CallerIdentity, with others: [QuotaUse], resumes: Bool, _ state: borrowing State
  ) -> (AdmissionLimit, GoogleRPCStatus)? {
    func exceeds(_ count: Int, _ limit: Int) -> Bool {
      count > limit + Self.allowance(resumes, beyond: limit)
    }
    guard !others.isEmpty else { return nil }
    let caller = identity.caller
    let sessions =
      (state.callers[caller] ?? 0) - (state.opening[CallerIdentity(caller: caller)] ?? 0)
      + others.reduce(0) { $0 + $1.sessions }
    if exceeds(sessions, state.limits.perCaller) {
      return Self.refusal(
        .sessionsPerCaller, subject: caller,
        limit: "max_sessions_per_caller is \(state.limits.perCaller)",
        message: "\(caller) has \(sessions - 1) sessions in the fleet; the limit "
          + "(max_sessions_per_caller) is \(state.limits.perCaller).")
    }
    guard identity.isParticipant, let limit = state.limits.perParticipant else { return nil }
    let ofParticipant =
      (state.participants[identity] ?? 0) - (state.opening[identity] ?? 0)
      + others.reduce(0) { $0 + ($1.participants?[identity.participant]?.sessions ?? 0) }
    guard exceeds(ofParticipant, limit) else { return nil }
    return Self.refusal(
      .sessionsPerParticipant, subject: "\(identity)",
      limit: "max_sessions_per_participant is \(limit)",
      message: "The \(identity) has \(ofParticipant - 1) sessions in the fleet; the limit "
        + "(max_sessions_per_participant) is \(limit).")
  }

  private static func refusal(
    _ kind: AdmissionLimit, subject: String, limit: String, message: String
  ) -> (AdmissionLimit, GoogleRPCStatus) {
    (
      kind,
      GoogleRPCStatus(
        code: .resourceExhausted, message: message,
        details: .quotaFailure(violations: [.init(subject: subject, description: limit)]),
        .retryInfo(delay: .seconds(1)))
    )
  }
}

extension CallerIdentity {
  /// The identities that a session counts for: the caller, and its participant if it acts for one.
  fileprivate var levels: [CallerIdentity] {
    self.parent.map { [$0, self] } ?? [self]
  }
}
