import NIOCore
import NIOHTTP2
package import SidelightWire
import Synchronization

/// All guards of a server, and their positions in the pipelines. A server's listeners share it, and
/// so its budgets.
package final class Guards: Sendable {
  /// The calls that a connection may abandon before they have their status. They stay below
  /// HTTP/2's own limit, 200 in 30 seconds.
  private static let (resetBurst, resetsPerSecond) = (150, 1.5)

  private let settings: Mutex<GuardConfiguration>
  private var configuration: GuardConfiguration { self.settings.withLock { $0 } }
  private let maxMessageBytes: Int
  private let connections: AddressBudget
  private let unfinished: AddressBudget
  private let ticks = EventLoopTicks()
  private let counters: ConnectionCounters

  /// - Parameters:
  ///   - configuration: The limits on peers.
  ///   - maxMessageBytes: The maximum size of a message in bytes.
  ///   - counters: Counts the actions of the guards.
  package init(
    configuration: GuardConfiguration, maxMessageBytes: Int, counters: ConnectionCounters
  ) {
    self.counters = counters
    self.settings = Mutex(configuration)
    self.maxMessageBytes = maxMessageBytes
    self.connections = AddressBudget(
      limit: configuration.maxConnections,
      limitPerAddress: configuration.maxConnectionsPerAddress)
    self.unfinished = AddressBudget(
      limit: configuration.maxUnfinishedBytes,
      limitPerAddress: configuration.maxUnfinishedBytesPerAddress)
  }

  /// Applies other limits from now on. Connections and calls that have begun keep theirs, except
  /// for the shared budgets. The active guards, and the time of a drain, do not change.
  package func reconfigure(_ configuration: GuardConfiguration) {
    var configuration = configuration
    self.settings.withLock { settings in
      configuration.active = settings.active
      configuration.drainTimeout = settings.drainTimeout
      settings = configuration
    }
    self.connections.setLimits(
      limit: configuration.maxConnections, limitPerAddress: configuration.maxConnectionsPerAddress)
    self.unfinished.setLimits(
      limit: configuration.maxUnfinishedBytes,
      limitPerAddress: configuration.maxUnfinishedBytesPerAddress)
  }

  /// Adds the guards of a connection: next to its socket, between TLS and HTTP/2, and above HTTP/2.
  /// It must be called on the connection's event loop, when gRPC's own handlers are in place and
  /// before it is active.
  ///
  /// - Parameter peer: The peer, for the log.
  func protect(connection channel: any Channel, of peer: String) throws {
    let pipeline = channel.pipeline.syncOperations
    let end = ConnectionEndHandler(peer: peer, counters: self.counters)
    try pipeline.addHandlers(self.socketHandlers(end), position: .first)

    var inner: [any ChannelHandler] = []
    if self.isActive(.preface) {
      inner.append(PrefaceGuard(timeout: self.configuration.prefaceTimeout))
    }
    if self.isActive(.keepalive) {
      inner.append(
        KeepaliveGuard(
          interval: self.configuration.keepaliveInterval,
          timeout: self.configuration.keepaliveTimeout))
    }
    inner.append(
      HTTP2FrameGuard(
        pings: self.isActive(.pings)
          ? RateBudget(
            perSecond: Double(self.configuration.pingsPerSecond),
            burst: self.configuration.pingBurst, at: .now()) : nil,
        resets: self.isActive(.resets)
          ? RateBudget(perSecond: Self.resetsPerSecond, burst: Self.resetBurst, at: .now()) : nil,
        counters: self.counters))
    let decoding = DecodingObserver()
    inner.append(decoding)
    let http2 = try pipeline.handler(type: NIOHTTP2Handler.self)
    try pipeline.addHandlers(inner, position: .before(http2))

    var above: [any ChannelHandler] = []
    if self.isActive(.lateFrames) {
      above.append(
        LateFrameGuard(decoding) { [counters] in
          counters.record(.lateFrames, against: $0.peerAddress)
        })
    }
    above.append(ConnectionErrorHandler(end))
    above.append(WindowUpdateFilter())
    try pipeline.addHandlers(above, position: .after(http2))
  }

  /// The handlers next to a socket, from the socket upwards.
  private func socketHandlers(_ end: ConnectionEndHandler) -> [any ChannelHandler] {
    var handlers: [any ChannelHandler] = [end]
    if self.isActive(.connectionStall) {
      handlers.append(ConnectionStallGuard(timeout: self.configuration.writeStallTimeout))
    }
    if self.isActive(.drain), let timeout = self.configuration.drainTimeout {
      handlers.append(DrainGuard(timeout: timeout))
    }
    if self.isActive(.connectionCap) {
      handlers.append(ConnectionCap(budget: self.connections))
    }
    return handlers
  }

  /// Adds a call's handlers: guards, and handlers that pass messages on. It must be called on the
  /// call's event loop, when gRPC's own handlers are in place.
  ///
  /// - Parameters:
  ///   - messages: The store of large messages.
  ///   - cancellation: Cancels the call's handler.
  func protect(
    call channel: any Channel, messages: OutboundMessageStore, cancellation: CallCancellation
  ) throws {
    let connection = channel.parent ?? channel
    let address = connection.peerAddress
    // The handler is absent if the guard is inactive.
    let lateFrames = try? connection.pipeline.syncOperations.handler(type: LateFrameGuard.self)
    let writer = CallWriter(
      CallWriter.Limits(
        configuration: self.configuration, address: address, counters: self.counters,
        frames: try? connection.pipeline.syncOperations.handler(type: HTTP2FrameGuard.self)))
    let reader = MessageReader(
      self.isActive(.messageBatches)
        ? MessageReader.Batching(ticks: self.ticks, address: address, counters: self.counters) : nil
    )
    let callGuard = CallGuard(
      configuration: self.configuration, maxMessageBytes: self.maxMessageBytes,
      unfinished: self.unfinished, lateFrames: lateFrames, address: address,
      counters: self.counters,
      cancellation: cancellation)
    try messages.addHandlers(
      toCall: channel, maxMessageBytes: self.maxMessageBytes, writer: writer, reader: reader,
      guards: [callGuard])
  }

  // MARK: HTTP and WebSockets

  /// The time in which a connection must have sent the head of an HTTP request; `nil` disables the
  /// limit.
  var handshakeTimeout: Duration? {
    self.isActive(.preface) ? self.configuration.prefaceTimeout : nil
  }

  /// Adds the guards of a connection that begins with HTTP, next to its socket. It must be called
  /// on the connection's event loop, before the connection is active.
  ///
  /// - Parameter peer: The peer, for the log.
  func protect(webConnection channel: any Channel, of peer: String) throws {
    let end = ConnectionEndHandler(peer: peer, counters: self.counters)
    try channel.pipeline.syncOperations.addHandlers(self.socketHandlers(end))
  }

  /// The guards between the socket and the call of a WebSocket.
  func webSocketHandlers(of channel: any Channel) -> [any ChannelHandler] {
    guard self.isActive(.keepalive) else { return [] }
    return [
      WebSocketKeepalive(
        interval: self.configuration.keepaliveInterval, timeout: self.configuration.keepaliveTimeout
      )
    ]
  }

  /// The limits on a WebSocket.
  ///
  /// - Parameter path: The method of its call.
  func webSocketLimits(path: String, of channel: any Channel) -> WebSocketLimits {
    let configuration = self.configuration
    return WebSocketLimits(
      configuration: configuration,
      messages: CallLimits(
        path: path, maxMessageBytes: self.maxMessageBytes,
        maxControlMessageBytes: configuration.maxControlMessageBytes),
      maxTransportBytes: self.maxMessageBytes,
      ticks: self.isActive(.messageBatches) ? self.ticks : nil,
      unfinished: self.isActive(.unfinishedMessages) ? self.unfinished : nil,
      pings: self.isActive(.pings)
        ? RateBudget(
          perSecond: Double(configuration.pingsPerSecond), burst: configuration.pingBurst,
          at: .now()) : nil,
      address: channel.peerAddress, counters: self.counters)
  }

  private func isActive(_ guardName: Guard) -> Bool {
    self.configuration.active.contains(guardName)
  }
}
