import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import SidelightClient

/// A connection of one participant, with the windows of the client library.
struct Connection: Sendable {
  private static let transport = TransportConfiguration()
  private static let method = MethodDescriptor(
    fullyQualifiedService: "sidelight.v1.FrameFilter", method: "Process")

  private let client: GRPCClient<HTTP2ClientTransport.Posix>

  /// Connects, and closes the connection when `body` returns.
  static func open(to port: Int, _ body: (Connection) async throws -> Void) async throws {
    let transport = try HTTP2ClientTransport.Posix(
      target: .ipv4(address: "127.0.0.1", port: port), transportSecurity: .plaintext,
      config: .defaults { config in
        config.http2.targetWindowSize = Self.transport.streamWindowBytes
        config.http2.maxFrameSize = Self.transport.http2FrameBytes
        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
          channel.setOption(
            .recvAllocator,
            value: FixedSizeRecvByteBufferAllocator(capacity: Self.transport.receiveBufferBytes))
        }
      })
    try await withGRPCClient(transport: transport) { client in
      try await body(Connection(client: client))
    }
  }

  /// Calls `FrameFilter.Process`.
  func process(
    _ send: @Sendable @escaping (RPCWriter<ClientMessage>) async throws -> Void,
    onResponse receive:
      @Sendable @escaping (
        RPCAsyncSequence<ServerMessage, any Error>
      ) async throws -> Void
  ) async throws {
    var options = CallOptions.defaults
    options.maxRequestMessageBytes = Self.transport.maxMessageBytes
    options.maxResponseMessageBytes = Self.transport.maxMessageBytes
    try await self.client.bidirectionalStreaming(
      request: StreamingClientRequest(producer: send), descriptor: Self.method,
      serializer: ClientMessageSerializer(), deserializer: ServerMessageDeserializer(),
      options: options
    ) { response in
      try await receive(response.messages)
    }
  }
}
