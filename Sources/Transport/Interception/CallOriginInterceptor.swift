import GRPCCore
import NIOCore
import NIOHPACK
import NIOHTTP2
import SidelightWire

/// Writes a call's number into its headers, which ``CallOriginInterceptor`` uses to find its
/// origin.
///
/// gRPC passes a handler only the address of the call's channel, which all peers of a Unix socket
/// share, and its own context cannot be extended from outside the package
/// (`docs/design/upstream.md`, 6). Only headers pass from the channel to the call. A header of that
/// name from a client is removed, which prevents clients from claiming another's call or
/// connection.
final class CallNumberHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload

  /// The name of the header. Only this server ever sees it.
  static let header = "sidelight-connection"

  private let number: UInt64

  init(_ number: UInt64) {
    self.number = number
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .headers(var headers) = self.unwrapInboundIn(data) else {
      return context.fireChannelRead(data)
    }
    headers.headers.remove(name: Self.header)
    headers.headers.add(name: Self.header, value: String(self.number))
    context.fireChannelRead(self.wrapInboundOut(.headers(headers)))
  }
}

/// Provides calls with their ``CallOrigin``, and runs their handlers on the configured executor.
struct CallOriginInterceptor: ServerInterceptor {
  /// Returns the origin of the call with a number, while its stream is open.
  let origin: @Sendable (UInt64) -> CallOrigin?
  let executor: TransportConfiguration.Executor

  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingServerRequest<Input>, context: ServerContext,
    next:
      @concurrent @Sendable (
        StreamingServerRequest<Input>, ServerContext
      ) async throws -> StreamingServerResponse<Output>
  ) async throws -> StreamingServerResponse<Output> {
    var request = request
    let number = request.metadata[stringValues: CallNumberHandler.header].first { _ in true }
    request.metadata.removeAllValues(forKey: CallNumberHandler.header)
    let found = number.flatMap({ UInt64($0) }).flatMap { self.origin($0) }
    guard var origin = found else {
      throw RPCError(code: .unavailable, message: "The connection is closed.")
    }
    origin.cancellation.attach(context.cancellation)
    var context = context
    origin.transport = context.transportSpecific
    context.transportSpecific = origin
    guard self.executor == .eventLoops else { return try await next(request, context) }
    let executor = origin.connection.executor
    var response = try await withTaskExecutorPreference(executor) { [request, context] in
      try await next(request, context)
    }
    // The body of a streaming call runs later than its interceptors.
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
