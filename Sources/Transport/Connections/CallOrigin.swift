package import GRPCCore
package import GRPCProtobuf
import NIOCore
import NIOHPACK
import NIOHTTP2
import SidelightWire
import Synchronization

/// The connection and the channel that a call came on, as its handlers and interceptors see them in
/// `ServerContext.transportSpecific`.
package struct CallOrigin: ServerContext.TransportSpecific {
  /// The call's connection.
  package var connection: Connection
  /// The transport's own value of `transportSpecific`, which this one replaces.
  package var transport: (any ServerContext.TransportSpecific)?
  /// The HTTP/2 stream of the call.
  private let stream: any Channel
  private let store: OutboundMessageStore
  fileprivate let cancellation: CallCancellation

  init(
    connection: Connection, stream: any Channel, store: OutboundMessageStore,
    cancellation: CallCancellation
  ) {
    self.connection = connection
    self.stream = stream
    self.store = store
    self.cancellation = cancellation
  }

  /// Ends the call with a status, and cancels its handler.
  package func end(_ status: GoogleRPCStatus) {
    let pipeline = self.stream.pipeline
    let refusal = CallRefusal(guardName: nil, status: status)
    self.stream.eventLoop.execute { pipeline.fireUserInboundEventTriggered(refusal) }
  }

  /// Returns the store of the call's large messages.
  package func makeCallMessages() -> OutboundMessageStore.CallMessages {
    let messages = self.store.makeCallMessages()
    // A writer on another thread may end before the last of its messages has reached the channel.
    self.stream.closeFuture.whenComplete { _ in withExtendedLifetime(messages) {} }
    return messages
  }
}

/// The cancellation of a call's handler from the call's channel.
///
/// The channel exists before gRPC runs the handler, so a cancellation may come before the handle is
/// known.
final class CallCancellation: Sendable {
  private struct State {
    var handle: ServerContext.RPCCancellationHandle?
    var isCancelled = false
  }

  private let state = Mutex(State())

  /// Sets the handle that cancels the handler. Cancels the handler at once if the call is already
  /// cancelled.
  func attach(_ handle: ServerContext.RPCCancellationHandle) {
    let isCancelled = self.state.withLock { state in
      state.handle = handle
      return state.isCancelled
    }
    if isCancelled { handle.cancel() }
  }

  /// Cancels the handler, now or when it begins.
  func cancel() {
    let handle = self.state.withLock { state in
      state.isCancelled = true
      return state.handle
    }
    handle?.cancel()
  }
}

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
    let number = request.metadata[stringValues: CallNumberHandler.header].first { _ in true }
    request.metadata.removeAllValues(forKey: CallNumberHandler.header)
    let found = number.flatMap({ UInt64($0) }).flatMap { self.connections.origin(ofCall: $0) }
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
