import GRPCCore
import GRPCProtobuf
import Logging
import ServiceLifecycle
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Shows operators the sessions that stand, and lets them force pipelines.
struct SessionsService: Sidelight_V1_Sessions.SimpleServiceProtocol {
  let engine: Engine

  func listSessions(
    request: Sidelight_V1_ListSessionsRequest, context: ServerContext
  ) async throws -> Sidelight_V1_ListSessionsResponse {
    let now = self.engine.clock.now()
    return .with { $0.sessions = self.engine.sessions.handles.map { $0.info(at: now) } }
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
    if !request.sessionID.isEmpty { _ = try self.handle(request.sessionID) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      // Neither a caller that goes nor a shutdown ends a handler by itself.
      group.addTask { try? await context.cancellation.cancelled }
      group.addTask { try await self.send(to: response, every: interval, of: request.sessionID) }
      _ = try await group.next()
      group.cancelAll()
    }
    if Task.isShuttingDownGracefully {
      throw GoogleRPCStatus.shuttingDown
    }
  }

  private func send(
    to response: RPCWriter<Sidelight_V1_WatchSessionsResponse>, every interval: Duration,
    of id: String
  ) async throws {
    while !Task.isCancelled {
      let now = self.engine.clock.now()
      let handles = self.engine.sessions.handles.filter { id.isEmpty || $0.id == id }
      guard id.isEmpty || !handles.isEmpty else { return }
      try await response.write(.with { $0.sessions = handles.map { $0.info(at: now) } })
      await self.engine.clock.wait(interval)
    }
  }

  func overrideSession(
    request: Sidelight_V1_OverrideSessionRequest, context: ServerContext
  ) async throws -> Sidelight_V1_OverrideSessionResponse {
    let handle = try self.handle(request.sessionID)
    guard request.hasPipeline else {
      return .with { $0.revision = handle.endOverride() }
    }
    guard request.reason.utf8.count <= 256 else {
      throw FieldFault(
        field: "reason", reason: "has \(request.reason.utf8.count) bytes, the limit is 256")
    }
    let timeToLive = try Duration(
      request.timeToLive, field: "time_to_live", in: .seconds(1) ... .seconds(86400))
    let revision: UInt64
    do {
      revision = try handle.override(
        with: try Pipeline(request.pipeline), reason: request.reason,
        until: self.engine.clock.now() + timeToLive)
    } catch let error as PipelineError {
      throw FieldFault(error).within("pipeline")
    } catch let error as FieldFault {
      throw error.within("pipeline")
    }
    self.engine.logger.notice(
      "session overridden",
      metadata: [
        "session": "\(handle.id)", "reason": "\(request.reason)", "by": "\(context.caller)",
      ])
    return .with { $0.revision = revision }
  }

  private func handle(_ id: String) throws(FieldFault) -> SessionHandle {
    guard let handle = self.engine.sessions.handle(id) else {
      throw FieldFault(
        code: .notFound, field: "session_id", reason: "there is no session \"\(id.prefix(64))\"")
    }
    return handle
  }
}
