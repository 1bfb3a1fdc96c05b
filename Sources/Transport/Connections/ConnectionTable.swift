import NIOCore
import NIOPosix
import NIOSSL
import SidelightWire
import Synchronization

/// The connections and calls of a listener, so that a call finds its own by number.
final class ConnectionTable: Sendable {
  private struct State {
    var connections: [UInt64: Connection] = [:]
    var calls: [UInt64: CallOrigin] = [:]
    var nextConnection: UInt64 = 1
    var nextCall: UInt64 = 1
    /// All there are, by the connection's number.
    var channels: [UInt64: any Channel] = [:]
    /// Connections that come now are closed.
    var isClosed = false
  }

  private let state = Mutex(State())
  /// For the large messages of all calls.
  let claims = ClaimDesk()

  /// Enters a connection that was accepted, until it closes. Before that is done, none of its streams
  /// is looked at. One that comes too late is closed before it is handed on.
  func enter(_ channel: any Channel) -> EventLoopFuture<Connection> {
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

  /// Closes all connections without manners, and those that come from now on.
  ///
  /// - Parameter done: Is called when none stands any more.
  func closeAll(_ done: @escaping @Sendable () -> Void) {
    let channels = self.state.withLock { state in
      state.isClosed = true
      return Array(state.channels.values)
    }
    for channel in channels {
      let isCut = channel.eventLoop.makePromise(of: Void.self)
      channel.triggerUserOutboundEvent(CutOff(), promise: isCut)
      // Nobody takes that before its guards stand.
      isCut.futureResult.whenFailure { _ in channel.close(promise: nil) }
    }
    EventLoopFuture.andAllComplete(
      channels.map(\.closeFuture), on: MultiThreadedEventLoopGroup.singleton.any()
    ).whenComplete { _ in done() }
  }

  /// Makes the call of a stream carry its number, until the stream closes.
  func mark(_ stream: any Channel) -> EventLoopFuture<Void> {
    stream.eventLoop.makeCompletedFuture {
      // A stream shares its connection's event loop.
      let parent = stream.parent?.pipeline.syncOperations
      let number = try parent?.handler(type: ConnectionNumber.self)
      guard let parent, let number else { throw ChannelError.inappropriateOperationForState }
      if !number.hasCertificate {
        // There are streams only when the handshake is over.
        number.hasCertificate = true
        let certificate = (try? parent.nioSSL_peerCertificate()).flatMap(PeerCertificate.init)
        self.state.withLock { $0.connections[number.value]?.certificate = certificate }
      }
      let call: UInt64? = self.state.withLock { state in
        guard let connection = state.connections[number.value] else { return nil }
        defer { state.nextCall += 1 }
        state.calls[state.nextCall] = CallOrigin(
          connection: connection, stream: stream, claims: self.claims)
        return state.nextCall
      }
      guard let call else { throw ChannelError.ioOnClosedChannel }
      stream.closeFuture.assumeIsolated().whenComplete { _ in
        self.state.withLock { $0.calls[call] = nil }
      }
      try stream.pipeline.syncOperations.addHandler(CallMark(call), position: .first)
    }
  }

  /// Where the call of that number comes from, while its stream stands.
  func origin(ofCall number: UInt64) -> CallOrigin? { self.state.withLock { $0.calls[number] } }

  /// How many connections stand.
  var count: Int { self.state.withLock { $0.connections.count } }
}

/// Keeps a connection's number where its streams find it.
private final class ConnectionNumber: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  let value: UInt64
  /// Whether the client's certificate was asked for.
  var hasCertificate = false

  init(_ value: UInt64) {
    self.value = value
  }
}
