import GRPCCore
import GRPCProtobuf
import Logging
import ServiceLifecycle
import SidelightTransport
import SidelightWire

extension FrameFilterService {
  func process(
    request: StreamingServerRequest<ReceivedMessage<Sidelight_V1_ClientMessage>>,
    context: ServerContext
  ) async throws -> StreamingServerResponse<OutgoingMessage<Sidelight_V1_ServerMessage>> {
    StreamingServerResponse { writer in
      try await self.serve(request, writer: writer, context: context)
      return [:]
    }
  }

  private func serve(
    _ request: StreamingServerRequest<ReceivedMessage<Sidelight_V1_ClientMessage>>,
    writer: RPCWriter<OutgoingMessage<Sidelight_V1_ServerMessage>>, context: ServerContext
  ) async throws {
    let messages = ClientMessages(request.messages)
    // A call that has not opened a session has nothing to finish: a shutdown cuts it off.
    let first = try await cancelWhenGracefulShutdown { try await messages.next() }
    guard !Task.isShuttingDownGracefully else {
      throw GoogleRPCStatus.shuttingDown
    }
    guard case .open(let open)? = first?.message.kind else {
      throw FieldFault(
        code: .failedPrecondition, field: "open", reason: "must be the first message")
    }
    let registry = self.engine.sessions
    let caller = context.caller
    try await registry.withPlace(for: caller.name) { number in
      let session = try Session(
        number: number, caller: caller,
        options: try SessionOptions(
          open, framesInFlight: self.engine.framesInFlight,
          limits: self.engine.frameLimits),
        catalogue: self.engine.catalogue(for: caller), engine: self.engine,
        callContext: self.engine.tracing.context(of: request.metadata))
      registry.add(session.handle)
      // What was not fetched is not handed out any more. What was lives on while somebody reads it.
      defer { self.engine.rings?.revoke(session.handle.id) }
      var logger = self.engine.logger
      logger[metadataKey: "session"] = "\(session.handle.id)"
      logger.info(
        "session opened",
        metadata: [
          "peer": "\(caller)", "label": "\(session.options.label)",
        ])
      defer {
        let counts = session.outbox.counts
        logger.info(
          "session ended",
          metadata: [
            "received": "\(counts.received)", "filtered": "\(counts.filtered)",
            "passed_through": "\(counts.passedThrough)",
            "dropped": "\(counts.dropped.values.reduce(0, +))",
          ])
      }
      try await self.engine.assets.withSession(of: caller.name) {
        try await session.run(
          messages: messages, writer: writer, deposits: context.makeCallMessages(),
          cancellation: context.cancellation)
      }
    }
  }
}
