import GRPCCore

/// How a call ended, as the conventions for traces and metrics name it.
struct CallStatus: Sendable {
  /// Such as `DEADLINE_EXCEEDED`.
  let name: String
  /// What was wrong.
  let message: String
  /// Whether it is the server's fault, and not the caller's.
  let isServerError: Bool

  static let ok = CallStatus(name: "OK", message: "", isServerError: false)

  init(_ error: any Error) {
    switch error {
    case let error as RPCError: self.init(error.code, error.message)
    case let error as any RPCErrorConvertible:
      self.init(error.rpcErrorCode, error.rpcErrorMessage)
    case is CancellationError: self.init(.cancelled, "The call was cancelled.")
    default: self.init(.unknown, "\(error)")
    }
  }

  private init(name: String, message: String, isServerError: Bool) {
    self.name = name
    self.message = message
    self.isServerError = isServerError
  }

  private init(_ code: RPCError.Code, _ message: String) {
    self.name = Self.names[code] ?? "UNKNOWN"
    self.message = message
    self.isServerError = Self.serverErrors.contains(code)
  }

  private static let names: [RPCError.Code: String] = [
    .cancelled: "CANCELLED", .unknown: "UNKNOWN", .invalidArgument: "INVALID_ARGUMENT",
    .deadlineExceeded: "DEADLINE_EXCEEDED", .notFound: "NOT_FOUND",
    .alreadyExists: "ALREADY_EXISTS", .permissionDenied: "PERMISSION_DENIED",
    .resourceExhausted: "RESOURCE_EXHAUSTED", .failedPrecondition: "FAILED_PRECONDITION",
    .aborted: "ABORTED", .outOfRange: "OUT_OF_RANGE", .unimplemented: "UNIMPLEMENTED",
    .internalError: "INTERNAL", .unavailable: "UNAVAILABLE", .dataLoss: "DATA_LOSS",
    .unauthenticated: "UNAUTHENTICATED",
  ]

  /// Those that OpenTelemetry's conventions for gRPC count as errors of a server.
  private static let serverErrors: Set<RPCError.Code> = [
    .unknown, .deadlineExceeded, .unimplemented, .internalError, .unavailable, .dataLoss,
  ]
}
