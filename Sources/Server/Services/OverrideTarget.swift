import GRPCCore
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// The sessions to which an operator's override applies: the sessions of one lineage and of its
/// track, or all sessions of participants.
enum OverrideTarget: Sendable {
  /// An open session, and the other sessions of its lineage and of its track.
  case session(SessionHandle)
  /// All sessions of participants, including later ones.
  case participants(OverrideStore.Participants)

  /// Finds the target of a request.
  ///
  /// - Throws: ``FieldViolation`` if the request names both a session and a participant, or a
  ///   session that isn't open.
  init(
    _ request: Sidelight_V1_OverrideSessionRequest, in sessions: SessionRegistry
  ) throws(FieldViolation) {
    try ParticipantName.check(request.participant, field: "participant")
    try ContractLimits.check(
      request.caller, atMost: ContractLimits.maxListedPeerBytes, field: "caller")
    guard !request.participant.isEmpty else {
      guard request.caller.isEmpty else {
        throw FieldViolation(
          field: "caller", reason: "is set without a participant; set participant, or leave it out")
      }
      self = .session(try sessions.session(request.sessionID))
      return
    }
    guard request.sessionID.isEmpty else {
      throw FieldViolation(
        field: "participant", reason: "is set in addition to session_id; set one of them")
    }
    self = .participants(
      OverrideStore.Participants(
        name: request.participant, caller: request.caller.isEmpty ? nil : request.caller))
  }

  var logMetadata: [String: String] {
    switch self {
    case .session(let handle):
      ["session": handle.id]
        .merging(
          handle.identity.isParticipant ? ["participant": handle.identity.participant] : [:]
        ) { one, _ in one }
    case .participants(let participants):
      ["participant": participants.name]
        .merging(participants.caller.map { ["caller": $0] } ?? [:]) { one, _ in one }
    }
  }

  /// Returns the open sessions of the target, the oldest first. A lineage has two if a client has
  /// reconnected before the server has detected that the old connection is dead.
  private func handles(in sessions: SessionRegistry) -> [SessionHandle] {
    switch self {
    case .session(let handle):
      sessions.handles.filter { $0.overrideSession.follows(handle.overrideSession) }
    case .participants(let participants):
      sessions.handles.filter { participants.contains($0.identity) }
    }
  }

  /// Forces a pipeline on the sessions.
  ///
  /// - Returns: The sessions and their revisions.
  /// - Throws: ``PipelineError``, or RESOURCE_EXHAUSTED if too many overrides are in effect.
  func force(
    _ pipeline: Pipeline, reason: String, until end: Duration, at now: Duration, in engine: Engine
  ) throws -> [Sidelight_V1_OverrideSessionResponse.SessionRevision] {
    let decision = OverrideStore.Decision.forced(pipeline, reason: reason, until: end)
    // Stored first, to apply to a session that opens at this moment.
    let overrides = engine.resumption.overrides
    switch self {
    case .session(let handle): try overrides.record(decision, for: handle.overrideSession, at: now)
    case .participants(let participants): try overrides.record(decision, for: participants, at: now)
    }
    return try self.handles(in: engine.admission.sessions).map { handle in
      handle.listed(try handle.applyDecision(at: now).revision)
    }
  }

  /// Ends the override of the sessions. Another session of the track keeps an override that was
  /// not this session's.
  ///
  /// - Returns: The sessions whose override ended or changed, and their revisions.
  /// - Throws: RESOURCE_EXHAUSTED if too many overrides are in effect to record the end of this
  ///   one; ``PipelineError`` if another operator forces an invalid pipeline at the same time.
  func end(
    at now: Duration, in engine: Engine
  ) throws -> [Sidelight_V1_OverrideSessionResponse.SessionRevision] {
    let (overrides, sessions) = (engine.resumption.overrides, engine.admission.sessions)
    let end = self.handles(in: sessions).compactMap(\.overrideEnd).max()
    let isEnding: (SessionHandle) -> Bool
    // Recorded first, to apply to a session that opens at this moment.
    switch self {
    case .session(let handle):
      let override = handle.override
      isEnding = { other in
        other.lineage == handle.lineage || other.override.map { $0.isSame(as: override) } ?? false
      }
      try overrides.lift(handle.overrideSession, until: end, at: now)
    case .participants(let participants):
      isEnding = { _ in true }
      try overrides.lift(participants, until: end, at: now)
    }
    return try self.handles(in: sessions).filter(\.isOverridden).compactMap { handle in
      let (revision, isChanged) = try handle.applyDecision(
        at: now, default: isEnding(handle) ? .lifted(until: now) : nil)
      return isChanged ? handle.listed(revision) : nil
    }
  }
}

extension SessionHandle {
  fileprivate func listed(
    _ revision: UInt64
  ) -> Sidelight_V1_OverrideSessionResponse.SessionRevision {
    .with {
      $0.sessionID = self.id
      $0.revision = revision
    }
  }
}

extension SessionRegistry {
  /// Returns the open session that a request names.
  ///
  /// - Throws: ``FieldViolation`` with NOT_FOUND if the session isn't open.
  func session(_ id: String) throws(FieldViolation) -> SessionHandle {
    try ContractLimits.check(id, atMost: Pipeline.maxNameBytes, field: "session_id")
    guard let handle = self.handle(id) else {
      throw FieldViolation(
        code: .notFound, field: "session_id", reason: "there is no session \"\(id)\"")
    }
    return handle
  }
}
