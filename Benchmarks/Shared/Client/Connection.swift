import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import SidelightClient

/// A gRPC connection without the client library, with the library's windows, frame size and limits.
package struct Connection: Sendable {
  private static let configuration = TransportConfiguration()

  package let client: GRPCClient<HTTP2ClientTransport.Posix>

  /// Connects without TLS, and closes the connection when `body` returns.
  package static func open<Result: Sendable>(
    to address: Address, _ body: (Connection) async throws -> Result
  ) async throws -> Result {
    let target: any ResolvableTarget =
      switch address {
      case .unix(let path): .unixDomainSocket(path: path)
      case .tcp(let host, let port): .ipv4(address: host, port: port)
      }
    let transport = try HTTP2ClientTransport.Posix(
      target: target, transportSecurity: .plaintext,
      config: .defaults { config in
        config.http2.targetWindowSize = Self.configuration.streamWindowBytes
        config.http2.maxFrameSize = Self.configuration.http2FrameBytes
        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
          channel.setOption(
            .recvAllocator,
            value: FixedSizeRecvByteBufferAllocator(
              capacity: Self.configuration.receiveBufferBytes))
        }
      })
    return try await withGRPCClient(transport: transport) { client in
      try await body(Connection(client: client))
    }
  }

  /// The options of a call, with room for large frames.
  package var callOptions: CallOptions {
    var options = CallOptions.defaults
    options.maxRequestMessageBytes = Self.configuration.maxMessageBytes
    options.maxResponseMessageBytes = Self.configuration.maxMessageBytes
    return options
  }
}

extension Address {
  /// A TCP port of this machine.
  package static func loopback(_ port: Int) -> Address { .tcp(host: "127.0.0.1", port: port) }

  /// A Unix socket.
  package static func socket(_ path: String) -> Address { .unix(path: path) }
}
