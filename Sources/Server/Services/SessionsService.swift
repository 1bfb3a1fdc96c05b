import GRPCCore
import GRPCProtobuf
import Logging
import ServiceLifecycle
import SidelightKernels
package import SidelightWire
import SwiftProtobuf

/// `sidelight.v1.Sessions`: lists the open sessions for operators, forces pipelines, and moves and
/// closes sessions.
struct SessionsService: Sidelight_V1_Sessions.SimpleServiceProtocol {
  let engine: Engine

  func listSessions(
    request: Sidelight_V1_ListSessionsRequest, context: ServerContext
  ) async throws -> Sidelight_V1_ListSessionsResponse {
    let limit = UInt32(ContractLimits.maxPageSize)
    guard request.pageSize <= limit else {
      throw FieldViolation(
        field: "page_size", reason: "is \(request.pageSize); the limit is \(limit)",
        info: .outOfRange(request.pageSize, limit: limit))
    }
    try ContractLimits.check(
      request.label, atMost: ContractLimits.maxLabelBytes, field: "label")
    try ParticipantName.check(request.participant, field: "participant")
    let last =
      request.pageToken.isEmpty
      ? nil
      : try SessionPageToken(
        request.pageToken, label: request.label, participant: request.participant
      ).number
    let (handles, isLast) = self.engine.admission.sessions.page(
      after: last, label: request.label, participant: request.participant,
      count: request.pageSize == 0 ? ContractLimits.defaultPageSize : Int(request.pageSize))
    let now = self.engine.clock.now()
    return .with {
      $0.sessions = handles.map { $0.info(at: now) }
      if !isLast, let number = handles.last?.number {
        $0.nextPageToken =
          SessionPageToken(
            after: number, label: request.label, participant: request.participant
          ).text
      }
    }
  }

  func watchSessions(
    request: Sidelight_V1_WatchSessionsRequest,
    response: RPCWriter<Sidelight_V1_WatchSessionsResponse>, context: ServerContext
  ) async throws {
    let interval =
      request.hasInterval
      ? try Duration(
        request.interval, field: "interval", in: .milliseconds(100) ... .seconds(3600))
      : .seconds(1)
    if !request.sessionID.isEmpty {
      _ = try self.engine.admission.sessions.session(request.sessionID)
    }
    try await context.untilCancelled {
      try await self.send(to: response, every: interval, of: request.sessionID)
    }
    if Task.isShuttingDownGracefully { throw GoogleRPCStatus.shuttingDown }
  }

  private func send(
    to response: RPCWriter<Sidelight_V1_WatchSessionsResponse>, every interval: Duration,
    of id: String
  ) async throws {
    while !Task.isCancelled {
      let now = self.engine.clock.now()
      let handles = self.engine.admission.sessions.handles.filter { id.isEmpty || $0.id == id }
      guard id.isEmpty || !handles.isEmpty else { return }
      for message in Sidelight_V1_WatchSessionsResponse.snapshot(
        of: handles.map { $0.info(at: now) }, pageSize: ContractLimits.maxPageSize)
      {
        try await response.write(message)
      }
      await self.engine.clock.wait(interval)
    }
  }

  func overrideSession(
    request: Sidelight_V1_OverrideSessionRequest, context: ServerContext
  ) async throws -> Sidelight_V1_OverrideSessionResponse {
    let target = try OverrideTarget(request, in: self.engine.admission.sessions)
    let now = self.engine.clock.now()
    guard let source = request.pipelineSource else {
      let changed = try target.end(at: now, in: self.engine)
      self.log("override ended", target, by: context.caller)
      await self.share(target)
      return target.response(changed)
    }
    try ContractLimits.check(
      request.reason, atMost: ContractLimits.maxReasonBytes, field: "reason")
    let timeToLive = try Duration(
      request.timeToLive, field: "time_to_live", in: .seconds(1) ... .seconds(86400))
    let requested = try RequestedPipeline(source)
    let changed: [Sidelight_V1_OverrideSessionResponse.SessionRevision]
    // A decision must be permitted to the operator, and valid for all sessions that it applies to.
    _ = try requested.resolved(in: self.engine.permittedCatalogue(for: context.caller))
    do {
      changed = try target.force(
        requested.pipeline, reason: request.reason, until: now + timeToLive, at: now,
        in: self.engine)
    } catch let error as PipelineError {
      throw requested.violation(of: error)
    }
    self.log("session overridden", target, by: context.caller, ["reason": "\(request.reason)"])
    await self.share(target)
    return target.response(changed)
  }

  func closeSession(
    request: Sidelight_V1_CloseSessionRequest, context: ServerContext
  ) async throws -> Sidelight_V1_CloseSessionResponse {
    try ContractLimits.check(
      request.reason, atMost: ContractLimits.maxReasonBytes, field: "reason")
    let handle = try self.engine.admission.sessions.session(request.sessionID)
    handle.close(reason: request.reason)
    self.log(
      "session closed", .session(handle), by: context.caller, ["reason": "\(request.reason)"])
    return .init()
  }

  func moveSession(
    request: Sidelight_V1_MoveSessionRequest, context: ServerContext
  ) async throws -> Sidelight_V1_MoveSessionResponse {
    try ContractLimits.check(
      request.address, atMost: ContractLimits.maxListedPeerBytes, field: "address")
    if !request.address.isEmpty {
      let address: Address
      do throws(AddressError) {
        address = try Address(request.address)
      } catch {
        throw FieldViolation(field: "address", reason: "is not an address: \(error.reason)")
      }
      guard case .tcp(_, 1...) = address else {
        throw FieldViolation(
          field: "address", reason: "is '\(request.address)'; it must be HOST:PORT")
      }
    }
    let handle = try self.engine.admission.sessions.session(request.sessionID)
    let handsOver = handle.move(
      to: request.address.isEmpty ? [] : [request.address], within: self.engine.drainTimeout,
      otherwise: .moved)
    self.log(
      "session moved", .session(handle), by: context.caller, ["address": "\(request.address)"])
    return .with { $0.handsOver = handsOver }
  }

  /// Waits until the other servers of a fleet can read a decision, or a time limit.
  private func share(_ target: OverrideTarget) async {
    guard await !self.engine.admission.fleet.shareOverrides() else { return }
    self.engine.observability.logger.warning(
      "the decision is not shared with the fleet yet, and is lost if this server ends before",
      metadata: target.logMetadata.mapValues { "\($0)" })
  }

  /// Logs an operator's decision.
  private func log(
    _ event: Logger.Message, _ target: OverrideTarget, by caller: Caller,
    _ metadata: Logger.Metadata = [:]
  ) {
    self.engine.observability.logger.notice(
      event,
      metadata: target.logMetadata.mapValues { "\($0)" }.merging(metadata) { own, _ in own }
        .merging(["by": "\(caller)"]) { own, _ in own })
  }
}

extension OverrideTarget {
  /// Returns the response with the sessions that a request changed.
  fileprivate func response(
    _ changed: [Sidelight_V1_OverrideSessionResponse.SessionRevision]
  ) -> Sidelight_V1_OverrideSessionResponse {
    .with {
      if case .session(let handle) = self { $0.revision = handle.revision }
      $0.sessions = Array(changed.prefix(ContractLimits.maxPageSize))
    }
  }
}

extension Sidelight_V1_WatchSessionsResponse {
  /// Returns a snapshot in one or more messages; without sessions, one empty message.
  ///
  /// - Parameter pageSize: The maximum number of sessions per message.
  package static func snapshot(
    of sessions: [Sidelight_V1_SessionInfo], pageSize: Int
  ) -> [Sidelight_V1_WatchSessionsResponse] {
    stride(from: 0, to: max(1, sessions.count), by: pageSize).map { start in
      .with {
        $0.sessions = Array(sessions.dropFirst(start).prefix(pageSize))
        $0.continues = start + pageSize < sessions.count
      }
    }
  }
}

/// The `page_token` of `ListSessions`: the last session of a page, and the requested label and
/// participant.
///
/// The text is 32 hexadecimal digits: the session's number, and a check value of all three. It is
/// not a secret; the check value detects invalid tokens, and tokens of other requests.
package struct SessionPageToken: Sendable, Hashable {
  /// The number of the page's last session.
  package let number: UInt64
  /// The requested label, or empty for all sessions.
  package let label: String
  /// The requested participant, or empty for all sessions.
  package let participant: String

  package init(after number: UInt64, label: String, participant: String = "") {
    self.number = number
    self.label = label
    self.participant = participant
  }

  /// Parses a token.
  ///
  /// - Throws: ``FieldViolation`` that names `page_token` if the text is not a token for this label
  ///   and participant.
  package init(
    _ text: String, label: String, participant: String = ""
  ) throws(FieldViolation) {
    if text.utf8.count == 32, let number = UInt64(text.prefix(16), radix: 16) {
      self.init(after: number, label: label, participant: participant)
      if self.text == text { return }
    }
    throw FieldViolation(
      field: "page_token",
      reason:
        "is not the next_page_token of an earlier response with the same label and participant; "
        + "send none for the first page")
  }

  package var text: String {
    String(hexadecimal: self.number) + String(hexadecimal: self.checkValue)
  }

  /// FNV-1a, 64 bits.
  private var checkValue: UInt64 {
    var value: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in String(hexadecimal: self.number).utf8 {
      value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    // A byte that never occurs in texts separates label and participant.
    for byte in Array(self.label.utf8) + [0xFF] + Array(self.participant.utf8) {
      value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return value
  }
}
