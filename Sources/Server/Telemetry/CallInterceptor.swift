import GRPCCore
import SidelightWire
import Synchronization
import Tracing

/// Records a span and a duration per call, by OpenTelemetry's conventions for gRPC (1.44).
///
/// The body of a streaming handler runs after `next` has returned, in the response's producer; so
/// both get the span's context, and the span ends with the producer. Every frame of a session has a
/// separate span and is not an event of the call's span, which can last for hours.
struct CallInterceptor: ServerInterceptor {
  let tracer: (any Tracer)?
  let metrics: ServerMetrics
  let clock: SessionClock

  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingServerRequest<Input>, context: ServerContext,
    next:
      @concurrent @Sendable (StreamingServerRequest<Input>, ServerContext) async throws ->
      StreamingServerResponse<Output>
  ) async throws -> StreamingServerResponse<Output> {
    let call = CallSpan(
      context, metadata: request.metadata, tracer: self.tracer, metrics: self.metrics,
      clock: self.clock)
    var response: StreamingServerResponse<Output>
    do {
      response = try await call.within { try await next(request, context) }
    } catch {
      call.end(error)
      throw error
    }
    switch response.accepted {
    case .failure(let error): call.end(error)
    case .success(var contents):
      let produce = contents.producer
      contents.producer = { writer in
        do {
          let metadata = try await call.within { try await produce(writer) }
          call.end(nil)
          return metadata
        } catch {
          call.end(error)
          throw error
        }
      }
      response.accepted = .success(contents)
    }
    return response
  }
}

/// The span of one call. Ends with the call; at the latest with its last reference, for a response
/// that is never produced.
final class CallSpan: Sendable {
  private let span: (any Span)?
  private let method: String
  private let metrics: ServerMetrics
  private let clock: SessionClock
  private let started: Duration
  private let hasEnded = Atomic(false)

  init(
    _ call: ServerContext, metadata: Metadata, tracer: (any Tracer)?, metrics: ServerMetrics,
    clock: SessionClock
  ) {
    self.method = call.descriptor.fullyQualifiedMethod
    self.metrics = metrics
    self.clock = clock
    self.started = clock.now()
    guard let tracer else {
      self.span = nil
      return
    }
    var context = ServiceContext.topLevel
    tracer.extract(metadata, into: &context, using: MetadataExtractor())
    let span: any Span = tracer.startSpan(self.method, context: context, ofKind: .server)
    self.span = span
    guard span.isRecording else { return }
    span.updateAttributes { attributes in
      attributes["rpc.system.name"] = "grpc"
      attributes["rpc.method"] = self.method
      let (address, port) = Self.address(ofPeer: call.remotePeer)
      attributes["network.peer.address"] = address
      if let port { attributes["network.peer.port"] = port }
    }
  }

  deinit {
    self.end(RPCError(code: .cancelled, message: "The call was abandoned."))
  }

  /// Runs a part of the call in the span's context.
  func within<Result>(
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    guard let span else { return try await body() }
    var context = span.context
    context[CurrentCallSpan.self] = span
    return try await ServiceContext.withValue(context) { try await body() }
  }

  /// Ends the span.
  ///
  /// - Parameter error: The error that ended the call, if any.
  func end(_ error: (any Error)?) {
    guard !self.hasEnded.exchange(true, ordering: .relaxed) else { return }
    let status = error.map { CallStatus($0) } ?? .ok
    self.metrics.recordCall(
      method: self.method, status: status.name, self.clock.now() - self.started)
    guard let span else { return }
    span.attributes["rpc.response.status_code"] = status.name
    if status.isServerError {
      span.attributes["error.type"] = status.name
      span.setStatus(SpanStatus(code: .error, message: status.message))
    }
    span.end()
  }

  /// Splits a peer in the form that gRPC uses: `ipv4:127.0.0.1:50051`, `ipv6:[::1]:50051`,
  /// `unix:/path`.
  private static func address(ofPeer peer: String) -> (String, port: Int?) {
    let name = peer.split(separator: ":", maxSplits: 1).last.map(String.init) ?? peer
    guard peer.hasPrefix("ipv"), let colon = name.lastIndex(of: ":") else { return (name, nil) }
    let host = name[..<colon].filter { $0 != "[" && $0 != "]" }
    return (host, Int(name[name.index(after: colon)...]))
  }
}

/// The key for the span of the current call, to which interceptors add attributes.
enum CurrentCallSpan: ServiceContextKey {
  typealias Value = any Span
}

/// The status of a call in traces and metrics.
struct CallStatus: Sendable {
  /// The name, such as `DEADLINE_EXCEEDED`.
  let name: String
  let message: String
  /// Whether it is an error of the server, not of the caller.
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

  /// The codes that OpenTelemetry's conventions for gRPC count as errors of a server.
  private static let serverErrors: Set<RPCError.Code> = [
    .unknown, .deadlineExceeded, .unimplemented, .internalError, .unavailable, .dataLoss,
  ]
}

/// Extracts trace context from a call's metadata.
struct MetadataExtractor: Extractor {
  /// - Returns: The value, the joined values of a list such as `tracestate`, or `nil` for more than
  ///   one `traceparent`.
  func extract(key: String, from carrier: Metadata) -> String? {
    let values = Array(carrier[stringValues: key])
    switch key {
    case "traceparent": return values.count == 1 ? values[0] : nil
    default: return values.isEmpty ? nil : values.joined(separator: ",")
    }
  }
}
