import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The connections and calls of a listener. A call finds its own entry by number.
final class ConnectionTable: Sendable {
  private struct State {
    var connections: [UInt64: Connection] = [:]
    var calls: [UInt64: CallOrigin] = [:]
    var nextConnection: UInt64 = 1
    var nextCall: UInt64 = 1
    /// All channels, by the connection's number.
    var channels: [UInt64: any Channel] = [:]
    /// Whether new connections are closed.
    var isClosed = false
  }

  private let state = Mutex(State())
  /// The large messages of all calls.
  let messages = OutboundMessageStore()

  /// Adds an accepted connection, until it closes. Streams are handled only after the returned
  /// future succeeds. A connection that comes after ``closeAll(_:)`` is closed before it is passed
  /// on.
  func add(_ channel: any Channel) -> EventLoopFuture<Connection> {
    PeerCredentials.ofPeer(channel).flatMapThrowing { credentials in
      let (connection, isLate) = self.state.withLock { state in
        let connection = Connection(
          number: state.nextConnection, credentials: credentials,
          executor: EventLoopExecutor(channel.eventLoop))
        state.nextConnection += 1
        if !state.isClosed {
          state.connections[connection.number] = connection
          state.channels[connection.number] = channel
        }
        return (connection, state.isClosed)
      }
      channel.closeFuture.assumeIsolated().whenComplete { _ in
        self.state.withLock { state in
          state.connections[connection.number] = nil
          state.channels[connection.number] = nil
        }
      }
      try channel.pipeline.syncOperations.addHandler(ConnectionNumber(connection.number))
      return (connection, isLate)
    }.flatMap { (connection: Connection, isLate: Bool) in
      guard isLate else { return channel.eventLoop.makeSucceededFuture(connection) }
      return channel.close().recover { _ in }.map { connection }
    }
  }

  /// Closes all connections immediately, and later connections when they are accepted.
  ///
  /// - Parameter done: Called when all connections are closed.
  func closeAll(_ done: @escaping @Sendable () -> Void) {
    let channels = self.state.withLock { state in
      state.isClosed = true
      return Array(state.channels.values)
    }
    for channel in channels {
      let aborted = channel.eventLoop.makePromise(of: Void.self)
      channel.triggerUserOutboundEvent(AbortConnection(), promise: aborted)
      // The event fails while the guards are not yet in place.
      aborted.futureResult.whenFailure { _ in channel.close(promise: nil) }
    }
    EventLoopFuture.andAllComplete(
      channels.map(\.closeFuture), on: MultiThreadedEventLoopGroup.singleton.any()
    ).whenComplete { _ in done() }
  }

  /// Notifies the handlers of all connections that the server shuts down.
  func quiesceAll() {
    for channel in self.state.withLock({ Array($0.channels.values) }) {
      channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
  }

  /// Adds the call of a stream, until the stream closes, and adds the call's number to its headers.
  ///
  /// - Parameter cancellation: Cancels the call's handler.
  func add(
    call stream: any Channel, cancellation: CallCancellation
  ) -> EventLoopFuture<Void> {
    stream.eventLoop.makeCompletedFuture {
      // A stream shares its connection's event loop.
      let parent = stream.parent?.pipeline.syncOperations
      let number = try parent?.handler(type: ConnectionNumber.self)
      guard let parent, let number else { throw ChannelError.inappropriateOperationForState }
      if !number.hasCertificate {
        // Streams start only after the handshake.
        number.hasCertificate = true
        let certificate = (try? parent.nioSSL_peerCertificate()).flatMap(PeerCertificate.init)
        self.state.withLock { $0.connections[number.value]?.certificate = certificate }
      }
      let call: UInt64? = self.state.withLock { state in
        guard let connection = state.connections[number.value] else { return nil }
        defer { state.nextCall += 1 }
        state.calls[state.nextCall] = CallOrigin(
          connection: connection, stream: stream, store: self.messages,
          cancellation: cancellation)
        return state.nextCall
      }
      guard let call else { throw ChannelError.ioOnClosedChannel }
      stream.closeFuture.assumeIsolated().whenComplete { _ in
        self.state.withLock { $0.calls[call] = nil }
      }
      try stream.pipeline.syncOperations.addHandler(CallNumberHandler(call), position: .first)
    }
  }

  /// Returns the origin of the call with that number, while its stream is open.
  func origin(ofCall number: UInt64) -> CallOrigin? { self.state.withLock { $0.calls[number] } }
}

/// Keeps a connection's number in its pipeline, for its streams.
private final class ConnectionNumber: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  let value: UInt64
  /// Whether the client's certificate was read.
  var hasCertificate = false

  init(_ value: UInt64) {
    self.value = value
  }
}
