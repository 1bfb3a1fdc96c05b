package import GRPCCore
import NIOCore
import NIOPosix
import ServiceLifecycle
package import SidelightWire

/// An address of a server that speaks HTTP: it serves the files of a site, and calls over
/// WebSockets, one call per WebSocket. A ``Listener`` speaks gRPC.
package final class WebListener: Sendable {
  private let address: Address
  private let transport: TransportConfiguration
  private let services: [any RegistrableRPCService]
  private let interceptors: [any ServerInterceptor]
  private let bound = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Address.self)
  let site: any WebSite
  let guards: Guards
  let connections = ConnectionTable()
  let calls: WebSocketTransport

  /// - Parameters:
  ///   - address: The address.
  ///   - site: The site.
  ///   - transport: The settings of connections.
  ///   - guards: The guards of the server.
  ///   - services: The services of the server.
  ///   - interceptors: The interceptors of the server.
  package init(
    _ address: Address, site: any WebSite, transport: TransportConfiguration, guards: Guards,
    services: [any RegistrableRPCService], interceptors: [any ServerInterceptor]
  ) {
    self.address = address
    self.site = site
    self.transport = transport
    self.guards = guards
    self.services = services
    self.interceptors = interceptors
    self.calls = WebSocketTransport(executor: transport.executor)
  }

  deinit {
    self.bound.fail(CancellationError())
  }

  /// Fails without serving.
  package func fail(_ error: any Error) { self.bound.fail(error) }

  /// The address, with the port that the system has chosen. Waits until it is bound.
  package var boundAddress: Address {
    get async throws { try await self.bound.futureResult.get() }
  }

  /// Serves until graceful shutdown begins and all calls have ended, or until the task is
  /// cancelled.
  ///
  /// - Throws: ``ListeningError`` if the address cannot be bound.
  package func serve(on loops: EventLoops) async throws {
    do {
      let socket = try await BoundSocket(at: self.address, unixSocketPermissions: 0o600)
      defer { socket.removeFile() }
      let server = GRPCServer(
        transport: self.calls, services: self.services, interceptors: self.interceptors)
      let channel = try await self.bootstrap(loops).withBoundSocket(socket.descriptor).get()
      // NIO lets 128 connections wait.
      _ = BoundSocket.startListening(socket.descriptor)
      try await self.serve(server, on: channel, address: socket.address)
      self.bound.fail(CancellationError())
    } catch {
      self.bound.fail(error)
      throw error
    }
  }

  private func serve(
    _ server: GRPCServer<WebSocketTransport>, on channel: any Channel, address: Address
  ) async throws {
    // Not a child task, which would be cancelled together with this one and before the connections
    // are closed. `onCancel` cancels it, and this function returns only after it.
    let serving = Task { try await server.serve() }
    try await withTaskCancellationHandler {
      try await withGracefulShutdownHandler {
        self.bound.succeed(address)
        try await serving.value
      } onGracefulShutdown: {
        channel.close(promise: nil)
        self.connections.quiesceAll()
        server.beginGracefulShutdown()
      }
    } onCancel: {
      channel.close(promise: nil)
      self.connections.closeAll { serving.cancel() }
    }
  }

  private func bootstrap(_ loops: EventLoops) -> ServerBootstrap {
    ServerBootstrap(group: loops.group)
      .childChannelInitializer { channel in
        SocketOptions(self.transport).apply(to: channel)
          .flatMap { self.connections.add(channel) }
          .flatMapThrowing { connection in
            try self.guards.protect(webConnection: channel, of: channel.peerName)
            try WebConnectionHandler.addHandlers(to: channel, self, connection)
          }
      }
  }
}
