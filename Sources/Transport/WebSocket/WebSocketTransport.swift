import GRPCCore
import NIOCore
import SidelightWire
import Synchronization

/// The transport of calls over WebSockets, one call per WebSocket. Its listener accepts the
/// connections and speaks HTTP.
final class WebSocketTransport: ServerTransport {
  typealias Bytes = CallBytes
  typealias CallChannel = NIOAsyncChannel<RPCRequestPart<CallBytes>, RPCResponsePart<CallBytes>>

  /// The messages that wait for a handler at which the connection is no longer read, and below
  /// which it is read again: the pixels of two frames.
  private static let (resumeReading, stopReading) = (1, 2)

  private struct AcceptedCall: Sendable {
    let channel: any Channel
    let descriptor: MethodDescriptor
    let origin: CallOrigin
    let cancellation: CallCancellation
  }

  private let executor: TransportConfiguration.Executor
  /// Bounded by the number of connections.
  private let accepted = AsyncStream.makeStream(of: AcceptedCall.self)
  private let methods = Mutex<[String: MethodDescriptor]>([:])

  /// - Parameter executor: The threads on which calls are served.
  init(executor: TransportConfiguration.Executor) {
    self.executor = executor
  }

  func configure(context: GRPCServerContext) {
    self.methods.withLock { methods in
      for method in context.methods { methods["/\(method.fullyQualifiedMethod)"] = method }
    }
  }

  /// Returns the method of a path; `nil` if the server doesn't have it.
  func method(at path: String) -> MethodDescriptor? { self.methods.withLock { $0[path] } }

  /// Accepts a connection whose handler is in place.
  func accept(_ call: WebSocketCall, on channel: any Channel) {
    let accepted = self.accepted.continuation.yield(
      AcceptedCall(
        channel: channel, descriptor: call.descriptor, origin: call.origin,
        cancellation: call.cancellation))
    if case .terminated = accepted { channel.close(promise: nil) }
  }

  func listen(
    streamHandler:
      @escaping @concurrent @Sendable (
        _ stream: RPCStream<Inbound, Outbound>, _ context: ServerContext
      ) async -> Void
  ) async throws {
    await withDiscardingTaskGroup { group in
      for await call in self.accepted.stream {
        group.addTask { await self.run(call, streamHandler) }
      }
    }
  }

  func beginGracefulShutdown() { self.accepted.continuation.finish() }

  private func run(
    _ call: AcceptedCall,
    _ streamHandler:
      @escaping @concurrent @Sendable (
        _ stream: RPCStream<Inbound, Outbound>, _ context: ServerContext
      ) async -> Void
  ) async {
    // The connection may be closed by now.
    guard let channel = try? await self.begin(call.channel) else { return }
    // It ends with the connection, and doesn't throw other errors.
    try? await channel.executeThenClose { inbound, outbound in
      await withServerContextRPCCancellationHandle { handle in
        call.cancellation.attach(handle)
        var context = ServerContext(
          descriptor: call.descriptor, remotePeer: call.channel.peerName,
          localPeer: call.channel.localName, cancellation: handle)
        context.transportSpecific = call.origin
        let stream = RPCStream(
          descriptor: call.descriptor, inbound: RPCAsyncSequence(wrapping: inbound),
          outbound: RPCWriter.Closable(
            wrapping: WebSocketCallWriter(writer: outbound, channel: call.channel)))
        switch self.executor {
        case .concurrent: await streamHandler(stream, context)
        case .eventLoops:
          await withTaskExecutorPreference(call.origin.connection.executor) { [context] in
            await streamHandler(stream, context)
          }
        }
      }
      // The client may still take the last messages.
      if !Task.isCancelled { try await call.channel.closeFuture.get() }
    }
  }

  /// Begins to deliver the messages of a call.
  ///
  /// - Throws: `ChannelError` if the connection is closed.
  private func begin(_ channel: any Channel) async throws -> CallChannel {
    try await channel.eventLoop.submit {
      guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
      let wrapped = try CallChannel(
        wrappingChannelSynchronously: channel,
        configuration: .init(
          backPressureStrategy: .init(
            lowWatermark: Self.resumeReading, highWatermark: Self.stopReading)))
      let context = try channel.pipeline.syncOperations.context(
        handlerType: WebSocketCallHandler.self)
      (context.handler as? WebSocketCallHandler)?.begin(context: context)
      return wrapped
    }.get()
  }
}

/// The writer of a call's messages and status.
private struct WebSocketCallWriter: ClosableRPCWriterProtocol {
  typealias Element = RPCResponsePart<CallBytes>

  let writer: NIOAsyncChannelOutboundWriter<Element>
  let channel: any Channel

  func write(_ element: Element) async throws { try await self.writer.write(element) }

  func write(contentsOf elements: some Sequence<Element>) async throws {
    try await self.writer.write(contentsOf: Array(elements))
  }

  func finish() { self.writer.finish() }

  func finish(throwing error: any Error) { self.channel.pipeline.fireErrorCaught(error) }
}
