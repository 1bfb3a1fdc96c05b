import NIOCore
import NIOHTTP2

/// All guards of a server, and where each stands. Its listeners share it, and so what is counted.
struct Guards: Sendable {
  private let configuration: GuardConfiguration
  private let maxMessageBytes: Int
  private let connections: AddressBudget
  private let unfinished: AddressBudget

  /// - Parameters:
  ///   - configuration: What peers may do.
  ///   - maxMessageBytes: The most bytes of a message.
  init(configuration: GuardConfiguration, maxMessageBytes: Int) {
    self.configuration = configuration
    self.maxMessageBytes = maxMessageBytes
    self.connections = AddressBudget(
      limit: configuration.maxConnections,
      limitPerAddress: configuration.maxConnectionsPerAddress)
    self.unfinished = AddressBudget(
      limit: configuration.maxUnfinishedBytes,
      limitPerAddress: configuration.maxUnfinishedBytesPerAddress)
  }

  /// Puts up those of a connection: some next to its socket, some between TLS and HTTP/2. To be called
  /// on its event loop, when gRPC's own handlers stand and before it becomes active.
  func protect(connection channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    // From the socket upwards.
    var outer: [any ChannelHandler] = [CutOffHandler()]
    if self.isActive(.connectionStall) {
      outer.append(ConnectionStallGuard(timeout: self.configuration.writeStallTimeout))
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
    if self.isActive(.pings) {
      inner.append(
        PingGuard(
          budget: PingBudget(
            perSecond: self.configuration.pingsPerSecond, burst: self.configuration.pingBurst,
            at: .now())))
    }
    let http2 = try pipeline.handler(type: NIOHTTP2Handler.self)
    try pipeline.addHandlers(inner, position: .before(http2))
  }

  /// Puts up that of a call, on its event loop, when gRPC's own handlers stand.
  func protect(call channel: any Channel) throws {
    try channel.pipeline.syncOperations.addHandler(
      CallGuard(
        configuration: self.configuration, maxMessageBytes: self.maxMessageBytes,
        unfinished: self.unfinished, address: (channel.parent ?? channel).peerAddress),
      position: .first)
  }

  private func isActive(_ which: Guard) -> Bool { self.configuration.active.contains(which) }
}
