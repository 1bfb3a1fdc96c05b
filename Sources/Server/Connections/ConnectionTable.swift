import NIOCore
import SidelightWire
import Synchronization

/// The connections of a listener, so that a call finds its own by number.
final class ConnectionTable: Sendable {
  private struct State {
    var connections: [UInt64: Connection] = [:]
    var nextNumber: UInt64 = 1
  }

  private let state = Mutex(State())

  /// Enters a connection that was accepted, until it closes. Before that is done, none of its streams
  /// is looked at.
  func enter(_ channel: any Channel) -> EventLoopFuture<Void> {
    PeerCredentials.ofPeer(channel).flatMapThrowing { credentials in
      let connection = self.state.withLock { state in
        let connection = Connection(
          number: state.nextNumber, credentials: credentials,
          executor: EventLoopExecutor(channel.eventLoop))
        state.nextNumber += 1
        state.connections[connection.number] = connection
        return connection
      }
      channel.closeFuture.assumeIsolated().whenComplete { _ in
        self.state.withLock { $0.connections[connection.number] = nil }
      }
      try channel.pipeline.syncOperations.addHandler(ConnectionNumber(connection.number))
    }
  }

  /// Makes the calls of a stream carry their connection's number.
  func mark(_ stream: any Channel) -> EventLoopFuture<Void> {
    stream.eventLoop.makeCompletedFuture {
      // A stream shares its connection's event loop.
      let number = try stream.parent?.pipeline.syncOperations.handler(type: ConnectionNumber.self)
      guard let number else { throw ChannelError.inappropriateOperationForState }
      try stream.pipeline.syncOperations.addHandler(
        ConnectionMark(number.value), position: .first)
    }
  }

  /// The connection of that number, while it stands.
  subscript(number: UInt64) -> Connection? { self.state.withLock { $0.connections[number] } }

  /// How many connections stand.
  var count: Int { self.state.withLock { $0.connections.count } }
}

/// Keeps a connection's number where its streams find it.
private final class ConnectionNumber: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  let value: UInt64

  init(_ value: UInt64) {
    self.value = value
  }
}
