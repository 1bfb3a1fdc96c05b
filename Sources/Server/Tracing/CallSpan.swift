import GRPCCore
import Synchronization
import Tracing

/// The span of one call. Ends when the call is over; at the latest when it is let go, for a response
/// that nobody produces.
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
    self.end(RPCError(code: .cancelled, message: "The call was given up."))
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

  /// The call is over.
  ///
  /// - Parameter error: `nil` if it went well.
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

  /// What gRPC calls a peer: `ipv4:127.0.0.1:50051`, `ipv6:[::1]:50051`, `unix:/path`.
  private static func address(ofPeer peer: String) -> (String, port: Int?) {
    let name = peer.split(separator: ":", maxSplits: 1).last.map(String.init) ?? peer
    guard peer.hasPrefix("ipv"), let colon = name.lastIndex(of: ":") else { return (name, nil) }
    let host = name[..<colon].filter { $0 != "[" && $0 != "]" }
    return (host, Int(name[name.index(after: colon)...]))
  }
}

/// The span of the call that a task serves, for what is learned of the call as it goes on.
enum CurrentCallSpan: ServiceContextKey {
  typealias Value = any Span
}
