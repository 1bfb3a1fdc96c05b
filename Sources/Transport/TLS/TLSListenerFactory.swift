import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOPosix
import NIOSSL

/// The factory of listeners with TLS. A connection uses the certificates that the store has when it
/// begins.
///
/// gRPC's own listener makes its TLS context once, and can replace its certificate and key later,
/// but not the authorities of clients.
struct TLSListenerFactory: HTTP2ServerTransport.ListenerFactory {
  let address: NIOCore.SocketAddress
  /// A socket that listens already; `nil` binds the address.
  var descriptor: Int32?
  let certificates: CertificateStore
  let loops: MultiThreadedEventLoopGroup

  var eventLoopGroup: any EventLoopGroup { self.loops }

  func makeListeningChannel(
    listenerConfigurator: HTTP2ServerTransport.ListenerConfigurator,
    connectionConfigurator: HTTP2ServerTransport.ConnectionConfigurator
  ) async throws -> NIOAsyncChannel<
    HTTP2ServerTransport.ConnectionConfigurator.ConnectionChannel, Never
  > {
    guard self.certificates.context != nil else {
      throw RuntimeError(code: .transportError, message: "There is no certificate.")
    }
    let bootstrap = ServerBootstrap(group: self.loops)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { listenerConfigurator.configure(channel: $0) }
    let configure = { @Sendable (channel: any Channel) in
      channel.eventLoop.makeCompletedFuture {
        // The store has a context from the beginning, which only another context replaces.
        guard let context = self.certificates.context else {
          throw ChannelError.ioOnClosedChannel
        }
        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
      }
      .flatMap {
        connectionConfigurator.configure(channel: channel, tls: .configured(requireALPN: true))
      }
    }
    if let descriptor {
      return try await bootstrap.bind(descriptor, childChannelInitializer: configure)
    }
    return try await bootstrap.bind(to: self.address, childChannelInitializer: configure)
  }
}
