import GRPCCore
import SidelightWire

/// Tells each call of its connection, and has it served where the configuration says.
struct ConnectionInterceptor: ServerInterceptor {
  let connections: ConnectionTable
  let executor: TransportConfiguration.Executor

  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingServerRequest<Input>, context: ServerContext,
    next:
      @concurrent @Sendable (
        StreamingServerRequest<Input>, ServerContext
      ) async throws -> StreamingServerResponse<Output>
  ) async throws -> StreamingServerResponse<Output> {
    var request = request
    let number = request.metadata[stringValues: CallMark.name].first { _ in true }
    request.metadata.removeAllValues(forKey: CallMark.name)
    let found = number.flatMap({ UInt64($0) }).flatMap { self.connections.origin(ofCall: $0) }
    guard var origin = found else {
      throw RPCError(code: .unavailable, message: "The connection is closed.")
    }
    var context = context
    origin.transport = context.transportSpecific
    context.transportSpecific = origin
    guard self.executor == .eventLoops else { return try await next(request, context) }
    let executor = origin.connection.executor
    var response = try await withTaskExecutorPreference(executor) { [request, context] in
      try await next(request, context)
    }
    // The body of a call that streams is run later than its interceptors.
    response.accepted = response.accepted.map { accepted in
      var accepted = accepted
      let producer = accepted.producer
      accepted.producer = { writer in
        try await withTaskExecutorPreference(executor) { try await producer(writer) }
      }
      return accepted
    }
    return response
  }
}
