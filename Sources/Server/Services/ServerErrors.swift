import GRPCCore
import GRPCProtobuf
import SidelightWire

extension GoogleRPCStatus {
  /// Who names the reasons of ours.
  static let errorDomain = "sidelight.v1"

  /// The server is shutting down: whoever asks another one, or this one a little later, may have luck.
  static var shuttingDown: GoogleRPCStatus {
    GoogleRPCStatus(
      code: .unavailable, message: "The server is shutting down.",
      details:
        .errorInfo(reason: "SHUTTING_DOWN", domain: Self.errorDomain, metadata: [:]),
      .retryInfo(delay: .seconds(1)))
  }

  /// A client has sent nothing but faults.
  ///
  /// - Parameters:
  ///   - limit: The faults in a row that are let pass.
  ///   - last: The fault that was one too many.
  static func tooManyFaults(limit: Int, last: FieldFault) -> GoogleRPCStatus {
    let last = last.clipped
    return GoogleRPCStatus(
      code: .invalidArgument,
      message: "More than \(limit) faults in a row; the last was \(last.field): \(last.reason)",
      details:
        .errorInfo(
          reason: "TOO_MANY_FAULTS", domain: Self.errorDomain,
          metadata: ["max_consecutive_errors": "\(limit)"]),
      .badRequest(violations: [.init(field: last.field, description: last.reason)]))
  }
}

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
