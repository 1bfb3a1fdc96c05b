import Logging
import SidelightKernels
package import SidelightWire

extension SidelightServer {
  /// The state that the servers of a fleet share.
  package var sharedState: SharedState { SharedState(engine: self.engine) }
}

/// The state of a server that the servers of a fleet share: overrides, and the use of quotas.
package struct SharedState: Sendable {
  /// The maximum number of a caller's participants whose use is shared.
  private static let maxParticipants = 512

  let engine: Engine

  /// The clock of the overrides' ends.
  package var clock: SessionClock { self.engine.clock }

  // MARK: Overrides

  /// The operators' overrides.
  package var overrides: OverrideStore { self.engine.resumption.overrides }

  /// Adds another server's decision, and applies it to the open sessions. A session for which the
  /// forced pipeline is not valid is closed: it must not continue without the override.
  ///
  /// - Returns: Whether the decision is known now, or a later one has replaced it. `false` if it has
  ///   expired, or if the store is full.
  package func merge(_ record: OverrideStore.Record) -> Bool {
    let now = self.clock.now()
    let logger = self.engine.observability.logger
    let metadata = record.logMetadata
    let ended: [OverrideStore.Decision]
    switch self.overrides.merge(record, at: now) {
    case .new(ending: let decisions): ended = decisions
    case .known: return true
    case .expired: return false
    case .full:
      logger.warning(
        """
        override of another server ignored: \(2 * OverrideStore.capacity) are in effect, which is \
        the limit; end some
        """, metadata: metadata)
      return false
    }
    logger.notice("override of another server received", metadata: metadata)
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
        logger.warning(
          "session closed: an override is not valid on this server",
          metadata: metadata.merging(["session": "\(handle.id)", "reason": "\(error)"]) {
            _, new in new
          })
        // Pictures without the override must not be sent.
        handle.discardPictures(before: .max)
        handle.close(
          reason: "an override is in force, and its pipeline is not valid on this server: \(error)")
      }
    }
    return true
  }

  // MARK: Quotas

  /// Connects the server to a fleet.
  package func join(_ exchange: any FleetExchange) { self.engine.admission.fleet.join(exchange) }

  /// Stops counting the use at the other servers, which are out of reach. Each keeps an equal part
  /// of the rates.
  package func forgetOthers() {
    let admission = self.engine.admission
    let now = self.clock.now()
    for (caller, others) in admission.fleet.removeAll() {
      let limiters = admission.rateLimiter.limiters { identity, _ in identity.caller == caller }
      for (identity, limiter) in limiters {
        let participant = identity.participant
        let sharing =
          identity.isParticipant
          ? others.compactMap { $0.participants?[participant] } : others
        limiter.takeEqualShare(among: sharing.count + 1, at: now)
      }
    }
  }

  /// Returns the callers whose use of rates may have changed, if rates are limited.
  ///
  /// - Parameter areShort: Whether to return only callers of whom frames were not permitted, and
  ///   whose share may grow.
  package func callersWithRates(areShort: Bool) -> Set<String> {
    let admission = self.engine.admission
    guard admission.rateLimiter.quotas.limitsRates else { return [] }
    let known = Set(admission.fleet.callers)
    let due = admission.rateLimiter.limiters { identity, limiter in
      FleetQuotas.isShared(identity.caller)
        && (areShort ? limiter.isShort : limiter.isInDemand || known.contains(identity.caller))
    }
    return Set(due.map(\.identity.caller))
  }

  /// The callers that have sessions, or had some when their use was last exchanged.
  package var callers: Set<String> {
    let admission = self.engine.admission
    return Set(admission.sessions.callers.filter(FleetQuotas.isShared))
      .union(admission.fleet.callers)
  }

  /// Returns the use of a caller's quotas on this server, for the other servers.
  ///
  /// - Returns: The use, and the number of participants that are left out because others use more:
  ///   a caller can invent participants, and etcd limits the size of a value.
  package func use(of caller: String) -> (use: QuotaUse, participantsLeftOut: Int) {
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
    guard quotas.participant.isLimited else { return (total, 0) }
    var names = Set(sessionsOfParticipants.keys)
    if quotas.limitsRates {
      let limiters = admission.rateLimiter.limiters { identity, _ in
        identity.caller == caller && identity.isParticipant
      }
      names.formUnion(limiters.map(\.identity.participant))
    }
    var parts: [(name: String, use: QuotaUse)] = []
    for name in names {
      let part = use(
        of: CallerIdentity(caller: caller, participant: name), sessionsOfParticipants[name] ?? 0,
        others.compactMap { $0.participants?[name] })
      if !part.isEmpty { parts.append((name, part)) }
    }
    let leftOut = max(0, parts.count - Self.maxParticipants)
    if leftOut > 0 {
      parts.sort { ($0.use.sessions, $0.use.demand) > ($1.use.sessions, $1.use.demand) }
      parts.removeLast(leftOut)
    }
    total.participants = Dictionary(uniqueKeysWithValues: parts.map { ($0.name, $0.use) })
    return (total, leftOut)
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

extension QuotaUse {
  /// The demand for the rate in which it is larger.
  fileprivate var demand: Double { max(self.frames?.demand ?? 0, self.bytes?.demand ?? 0) }
}

extension OverrideStore.Record {
  fileprivate var logMetadata: Logger.Metadata {
    var metadata: Logger.Metadata = ["number": "\(self.number)"]
    switch self.target {
    case .session(let session):
      metadata["caller"] = "\(session.identity.listedCaller)"
      metadata["participant"] = "\(session.identity.participant)"
      metadata["label"] = "\(session.label)"
    case .participants(let participants):
      metadata["participant"] = "\(participants.name)"
      metadata["caller"] = participants.caller.map { "\($0)" }
    }
    return metadata
  }
}

extension PipelineState.Override {
  /// Returns whether an operator's decision has led to this override.
  fileprivate func isSame(as decision: OverrideStore.Decision) -> Bool {
    guard case .forced(let pipeline, let reason, let end) = decision else { return false }
    return self.isSame(as: pipeline, reason: reason, until: end)
  }
}
