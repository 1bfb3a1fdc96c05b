import GRPCCore
import GRPCProtobuf
import SidelightWire

/// Gives the error of a message that cannot be decoded the details that all our errors have. gRPC
/// throws it before a service sees anything.
struct UnreadableMessages: ServerInterceptor {
  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingServerRequest<Input>, context: ServerContext,
    next:
      @concurrent @Sendable (
        _ request: StreamingServerRequest<Input>, _ context: ServerContext
      ) async throws -> StreamingServerResponse<Output>
  ) async throws -> StreamingServerResponse<Output> {
    let response: StreamingServerResponse<Output>
    do {
      response = try await next(request, context)
    } catch let error as RPCError {
      throw Self.detailed(error, context)
    }
    switch response.accepted {
    case .failure(let error):
      return StreamingServerResponse(error: Self.detailed(error, context))
    case .success(let contents):
      return StreamingServerResponse(metadata: contents.metadata) { writer in
        do {
          return try await contents.producer(writer)
        } catch let error as RPCError {
          throw Self.detailed(error, context)
        }
      }
    }
  }

  private static func detailed(_ error: RPCError, _ context: ServerContext) -> RPCError {
    guard error.code == .invalidArgument, error.metadata.isEmpty else { return error }
    let fault = FieldFault(
      field: "message", reason: "cannot be decoded as \(context.descriptor.method) takes it")
    return RPCError(fault)
  }
}
