import SidelightKernels
package import SidelightWire

extension SidelightServer {
  /// The state that the servers of a fleet share.
  package var sharedState: SharedState { SharedState(engine: self.engine) }
}

/// The state of a server that the servers of a fleet share: overrides, and the use of quotas.
package struct SharedState: Sendable {
  private let engine: Engine

  init(engine: Engine) {
    self.engine = engine
  }

  /// The clock of the overrides' ends.
  package var clock: SessionClock { self.engine.clock }

  // MARK: Overrides

  /// The operators' overrides.
  package var overrides: OverrideStore { self.engine.resumption.overrides }

  /// Adds another server's decision, and applies it to the open sessions. A session for which the
  /// forced pipeline is not valid is closed: it must not continue without the override.
  ///
  /// - Returns: Whether the decision is new.
  package func merge(_ record: OverrideStore.Record) -> Bool {
    let now = self.clock.now()
    guard let ended = self.overrides.merge(record, at: now) else { return false }
    for handle in self.engine.admission.sessions.handles {
      // Recorded first, to apply to a session that opens at this moment.
      let isEnding: Bool
      switch record.target {
      case .session(let session):
        guard handle.overrideSession.follows(session) else { continue }
        isEnding =
          handle.lineage == session.lineage
          || ended.contains { handle.override?.isSame(as: $0) == true }
      case .participants(let participants):
        guard participants.contains(handle.identity) else { continue }
        isEnding = true
      }
      let isLifted = if case .lifted = record.decision { true } else { false }
      do throws(PipelineError) {
        try handle.applyDecision(at: now, default: isLifted && isEnding ? .lifted(until: now) : nil)
      } catch {
        handle.close(
          reason: "an override is in force, and its pipeline is not valid on this server: \(error)")
      }
    }
    return true
  }

  // MARK: Quotas

  /// Connects the server to a fleet.
  package func join(_ exchange: any QuotaExchange) { self.engine.admission.fleet.join(exchange) }

  /// Returns the callers whose use of rates may have changed, if rates are limited.
  ///
  /// - Parameter areShort: Whether to return only callers of whom frames were not permitted.
  package func callersWithRates(areShort: Bool) -> Set<String> {
    let admission = self.engine.admission
    guard admission.rateLimiter.quotas.limitsRates else { return [] }
    return Set(
      admission.rateLimiter.limiters.compactMap { identity, limiter in
        let isDue =
          areShort
          ? limiter.isShort : limiter.isInDemand || admission.fleet.knows(identity.caller)
        return isDue ? identity.caller : nil
      })
  }

  /// The callers that have sessions.
  package var callers: [String] { self.engine.admission.sessions.callers }

  /// Returns the use of a caller's quotas on this server, for the other servers.
  package func use(of caller: String) -> QuotaUse {
    let admission = self.engine.admission
    let quotas = admission.rateLimiter.quotas
    let (sessions, sessionsOfParticipants) = admission.sessions.counts(of: caller)
    let others = admission.fleet.others(of: caller)
    let now = self.clock.now()
    func use(of identity: CallerIdentity, _ sessions: Int, _ others: [QuotaUse]) -> QuotaUse {
      var use = QuotaUse(sessions: sessions)
      if quotas.limitsRates {
        admission.rateLimiter.limiter(of: identity).add(to: &use, with: others, at: now)
      }
      return use
    }
    var total = use(of: CallerIdentity(caller: caller), sessions, others)
    guard quotas.participant.isLimited else { return total }
    var names = Set(sessionsOfParticipants.keys)
    if quotas.limitsRates {
      for identity in admission.rateLimiter.limiters.keys
      where identity.caller == caller && identity.isParticipant {
        names.insert(identity.participant)
      }
    }
    total.participants = [:]
    for name in names {
      let part = use(
        of: CallerIdentity(caller: caller, participant: name), sessionsOfParticipants[name] ?? 0,
        others.compactMap { $0.participants?[name] })
      if !part.isEmpty { total.participants?[name] = part }
    }
    return total
  }

  /// Counts the use of a caller's quotas at the other servers, after its use here was published.
  package func exchange(_ use: QuotaUse, of caller: String, with others: [QuotaUse]) {
    let admission = self.engine.admission
    admission.fleet.set(use.isEmpty ? nil : others, of: caller)
    guard admission.rateLimiter.quotas.limitsRates else { return }
    let now = self.clock.now()
    admission.rateLimiter.limiter(of: CallerIdentity(caller: caller))
      .divide(with: others, at: now)
    for name in (use.participants ?? [:]).keys {
      admission.rateLimiter.limiter(of: CallerIdentity(caller: caller, participant: name))
        .divide(with: others.compactMap { $0.participants?[name] }, at: now)
    }
  }
}

extension PipelineState.Override {
  /// Returns whether an operator's decision has led to this override.
  fileprivate func isSame(as decision: OverrideStore.Decision) -> Bool {
    guard case .forced(let pipeline, let reason, let end) = decision else { return false }
    return self.isSame(as: pipeline, reason: reason, until: end)
  }
}
