import NIOCore
import NIOPosix
import SidelightWire
import Synchronization

/// A proxy between clients and a server. After a number of bytes from a client it reads no more of
/// them until it is released. The server's bytes always pass.
struct HoldingProxy: Sendable {
  /// The address that it listens on.
  let address: Address
  /// Has an element when it stops reading.
  let held: AsyncStream<Void>
  private let valves: Valves

  /// Continues to read.
  func release() { self.valves.release() }

  /// Runs a proxy for as long as `body` runs.
  ///
  /// - Parameters:
  ///   - server: The address of the server.
  ///   - byteCount: The approximate number of bytes of a client after which it stops reading.
  static func withProxy<Result>(
    to server: Address, holdingAfter byteCount: Int,
    _ body: (HoldingProxy) async throws -> Result
  ) async throws -> Result {
    guard case .tcp(let host, let port) = server else { fatalError("only TCP") }
    let (held, holding) = AsyncStream<Void>.makeStream()
    let valves = Valves()
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      // Accepted connections inherit this: the kernel is to buffer little that was not read.
      .serverChannelOption(.socketOption(.so_rcvbuf), value: 4096)
      .childChannelInitializer { client in
        ClientBootstrap(group: client.eventLoop).connect(host: host, port: port)
          .flatMapThrowing { server in
            valves.add(client)
            try client.pipeline.syncOperations.addHandlers(
              Valve(byteCount) { holding.yield() }, Forwarder(to: server))
            try server.pipeline.syncOperations.addHandler(Forwarder(to: client))
          }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    guard let port = channel.localAddress?.port else { fatalError("bound to no port") }
    let proxy = HoldingProxy(
      address: .tcp(host: "127.0.0.1", port: port), held: held, valves: valves)
    do {
      let result = try await body(proxy)
      try await channel.close().get()
      return result
    } catch {
      try? await channel.close().get()
      throw error
    }
  }
}

/// The connections of clients.
private final class Valves: Sendable {
  private let channels = Mutex<[any Channel]>([])

  func add(_ channel: any Channel) { self.channels.withLock { $0.append(channel) } }

  func release() {
    for channel in self.channels.withLock(\.self) {
      channel.triggerUserOutboundEvent(Valve.Release(), promise: nil)
    }
  }
}

/// Reads a number of bytes from a socket, and the rest once it is released.
private final class Valve: ChannelDuplexHandler {
  struct Release {}
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private var left: Int
  private let onHold: () -> Void
  private var isHolding = false

  init(_ byteCount: Int, _ onHold: @escaping () -> Void) {
    self.left = byteCount
    self.onHold = onHold
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if self.left < .max { self.left -= self.unwrapInboundIn(data).readableBytes }
    context.fireChannelRead(data)
  }

  func read(context: ChannelHandlerContext) {
    guard self.left <= 0 else { return context.read() }
    if !self.isHolding { self.onHold() }
    self.isHolding = true
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is Release else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    self.left = .max
    if self.isHolding { context.read() }
    promise?.succeed()
  }
}

/// Writes received bytes to another connection of the same event loop, and closes it at the end.
private final class Forwarder: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let other: any Channel

  init(to other: any Channel) {
    self.other = other
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.other.writeAndFlush(self.unwrapInboundIn(data), promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.other.close(promise: nil)
    context.fireChannelInactive()
  }
}
