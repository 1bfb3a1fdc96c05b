import Contract
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import SidelightClient

/// A connection of generated code, with the windows and limits of the client library.
struct Connection: Sendable {
  typealias Stub = Sidelight_V1_FrameFilter.Client<HTTP2ClientTransport.Posix>

  let stub: Stub
  private static let configuration = TransportConfiguration()

  /// Connects, and closes the connection when `body` returns.
  static func open<Result: Sendable>(
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
      try await body(Connection(stub: Stub(wrapping: client)))
    }
  }

  /// With room for large frames.
  var callOptions: CallOptions {
    var options = CallOptions.defaults
    options.maxRequestMessageBytes = Self.configuration.maxMessageBytes
    options.maxResponseMessageBytes = Self.configuration.maxMessageBytes
    return options
  }

  /// The names of the optional behaviours of the server.
  func features() async throws -> [String] {
    try await self.stub.getServerInfo(.init(), options: self.callOptions).features
  }
}
