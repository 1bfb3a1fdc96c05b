import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import SidelightWire

/// Opens connections, with windows and limits set for video.
struct Dialer: Sendable {
  typealias Connection = GRPCClient<HTTP2ClientTransport.Posix>

  let transport: TransportConfiguration

  /// Connects, and closes the connection when `body` returns or the task is cancelled. Connecting
  /// itself is lazy.
  func withConnection<Result: Sendable>(
    to address: Address, _ body: (Connection) async throws -> Result
  ) async throws -> Result {
    let transport = self.transport
    let channel = try HTTP2ClientTransport.Posix(
      target: Self.target(address), transportSecurity: .plaintext,
      config: .defaults { config in
        config.http2.targetWindowSize = transport.streamWindowBytes
        config.http2.maxFrameSize = transport.http2FrameBytes
        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
          channel.setOption(
            .recvAllocator,
            value: FixedSizeRecvByteBufferAllocator(capacity: transport.receiveBufferBytes))
        }
      })
    return try await withGRPCClient(transport: channel) { client in
      try await body(client)
    }
  }

  /// Options of every call.
  var callOptions: CallOptions {
    var options = CallOptions.defaults
    options.maxRequestMessageBytes = self.transport.maxMessageBytes
    options.maxResponseMessageBytes = self.transport.maxMessageBytes
    return options
  }

  private static func target(_ address: Address) -> any ResolvableTarget {
    switch address {
    case .unix(let path): .unixDomainSocket(path: path)
    case .tcp("localhost", let port): .ipv4(address: "127.0.0.1", port: port)
    case .tcp(let host, let port) where host.contains(":"): .ipv6(address: host, port: port)
    case .tcp(let host, let port) where host.allSatisfy { $0.isNumber || $0 == "." }:
      .ipv4(address: host, port: port)
    case .tcp(let host, let port): .dns(host: host, port: port)
    }
  }
}
