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
    if let keepalive = self.keepalive(ping: HTTP2PingFrame.request(0).bytes) {
      inner.append(keepalive)
    }
    inner.append(
      HTTP2FrameGuard(
        pings: self.pingBudget,
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
    let above = connection.pipeline.syncOperations
    let limiter = self.limiter(of: connection)
    // The late frames' guard is absent if it is inactive.
    try messages.addHandlers(
      toCall: channel, maxMessageBytes: self.maxMessageBytes,
      writer: CallWriter(limiter, frames: try? above.handler(type: HTTP2FrameGuard.self)),
      reader: MessageReader(limiter),
      guards: [
        CallGuard(
          limiter, lateFrames: try? above.handler(type: LateFrameGuard.self),
          cancellation: cancellation)
      ])
  }

  // MARK: Parts of both protocols

  func limiter(of connection: any Channel) -> CallLimiter {
    CallLimiter(
      configuration: self.configuration, maxMessageBytes: self.maxMessageBytes,
      unfinished: self.unfinished, ticks: self.ticks, address: connection.peerAddress,
      counters: self.counters)
  }

  /// Returns a guard that pings a silent peer; `nil` if it is inactive.
  ///
  /// - Parameter ping: The bytes of a ping.
  func keepalive(ping: ByteBuffer) -> KeepaliveGuard? {
    let configuration = self.configuration
    guard self.isActive(.keepalive) else { return nil }
    return KeepaliveGuard(
      ping: ping, interval: configuration.keepaliveInterval,
      timeout: configuration.keepaliveTimeout)
  }

  /// The pings that a connection may send; `nil` disables the limit.
  var pingBudget: RateBudget? {
    let configuration = self.configuration
    guard self.isActive(.pings) else { return nil }
    return RateBudget(
      perSecond: Double(configuration.pingsPerSecond), burst: configuration.pingBurst, at: .now())
  }

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

  private func isActive(_ guardName: Guard) -> Bool {
    self.configuration.active.contains(guardName)
  }
}
