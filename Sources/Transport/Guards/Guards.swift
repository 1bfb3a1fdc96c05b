import NIOCore
import NIOHTTP2
import SidelightWire

/// All guards of a server, and where each stands. Its listeners share it, and so what is counted.
struct Guards: Sendable {
  /// Calls that a connection may give up: what keeps under the stack's own limit, 200 in 30 seconds.
  private static let (resetBurst, resetsPerSecond) = (150, 1.5)

  private let settings: Adjustable<GuardConfiguration>
  private var configuration: GuardConfiguration { self.settings.value }
  private let maxMessageBytes: Int
  private let connections: AddressBudget
  private let unfinished: AddressBudget
  private let turns = LoopTurns()
  private let ledger: ConnectionLedger

  /// - Parameters:
  ///   - configuration: What peers may do.
  ///   - maxMessageBytes: The most bytes of a message.
  ///   - ledger: For what they do.
  init(configuration: GuardConfiguration, maxMessageBytes: Int, ledger: ConnectionLedger) {
    self.ledger = ledger
    self.settings = Adjustable(configuration)
    self.maxMessageBytes = maxMessageBytes
    self.connections = AddressBudget(
      limit: configuration.maxConnections,
      limitPerAddress: configuration.maxConnectionsPerAddress)
    self.unfinished = AddressBudget(
      limit: configuration.maxUnfinishedBytes,
      limitPerAddress: configuration.maxUnfinishedBytesPerAddress)
  }

  /// Goes by other numbers from now on: connections and calls that have begun keep theirs, but for those
  /// of what is shared out. Which guards stand, and the time of a drain, do not change.
  func reconfigure(_ configuration: GuardConfiguration) {
    var configuration = configuration
    configuration.active = self.configuration.active
    configuration.drainTimeout = self.configuration.drainTimeout
    self.settings.value = configuration
    self.connections.adopt(
      limit: configuration.maxConnections, limitPerAddress: configuration.maxConnectionsPerAddress)
    self.unfinished.adopt(
      limit: configuration.maxUnfinishedBytes,
      limitPerAddress: configuration.maxUnfinishedBytesPerAddress)
  }

  /// Puts up those of a connection: some next to its socket, some between TLS and HTTP/2, some above.
  /// To be called on its event loop, when gRPC's own handlers stand and before it becomes active.
  ///
  /// - Parameter peer: Who is at the other end, for the log.
  func protect(connection channel: any Channel, of peer: String) throws {
    let pipeline = channel.pipeline.syncOperations
    let end = ConnectionEndHandler(peer: peer, ledger: self.ledger)
    // From the socket upwards.
    var outer: [any ChannelHandler] = [end]
    if self.isActive(.connectionStall) {
      outer.append(
        ConnectionStallGuard(timeout: self.configuration.writeStallTimeout))
    }
    if self.isActive(.drain) {
      outer.append(DrainGuard(timeout: self.configuration.drainTimeout))
    }
    if self.isActive(.connectionCap) {
      outer.append(ConnectionCap(budget: self.connections))
    }
    try pipeline.addHandlers(outer, position: .first)

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
      FrameGuard(
        pings: self.isActive(.pings)
          ? RateBudget(
            perSecond: Double(self.configuration.pingsPerSecond),
            burst: self.configuration.pingBurst, at: .now()) : nil,
        resets: self.isActive(.resets)
          ? RateBudget(perSecond: Self.resetsPerSecond, burst: Self.resetBurst, at: .now()) : nil,
        ledger: self.ledger))
    let watch = DecodingWatch()
    if self.isActive(.lateFrames) { inner.append(watch) }
    let http2 = try pipeline.handler(type: NIOHTTP2Handler.self)
    try pipeline.addHandlers(inner, position: .before(http2))

    var above: [any ChannelHandler] = []
    if self.isActive(.lateFrames) {
      above.append(
        LateFrameGuard(watch) { [ledger] in ledger.record(.lateFrames, against: $0.peerAddress) })
    }
    above.append(ConnectionErrorHandler(end))
    above.append(WindowUpdateFilter())
    try pipeline.addHandlers(above, position: .after(http2))
  }

  /// Puts up those of a call, on its event loop, when gRPC's own handlers stand.
  func protect(call channel: any Channel) throws {
    let connection = channel.parent ?? channel
    let address = connection.peerAddress
    // None stands if it is taken away.
    let lateFrames = try? connection.pipeline.syncOperations.handler(type: LateFrameGuard.self)
    var handlers: [any ChannelHandler] = [
      CallOutputGuard(
        configuration: self.configuration, address: address, ledger: self.ledger)
    ]
    if self.isActive(.messageBatches) {
      handlers.append(
        MessageBatcher(turns: self.turns, address: address, ledger: self.ledger))
    }
    handlers.append(
      CallGuard(
        configuration: self.configuration, maxMessageBytes: self.maxMessageBytes,
        unfinished: self.unfinished, lateFrames: lateFrames, address: address,
        ledger: self.ledger))
    try channel.pipeline.syncOperations.addHandlers(handlers, position: .first)
  }

  private func isActive(_ which: Guard) -> Bool { self.configuration.active.contains(which) }
}
