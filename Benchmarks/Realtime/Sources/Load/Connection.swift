import BenchmarkClient
import GRPCCore

extension Connection {
  private static let method = MethodDescriptor(
    fullyQualifiedService: "sidelight.v1.FrameFilter", method: "Process")

  /// Calls `FrameFilter.Process`.
  func process(
    _ send: @Sendable @escaping (RPCWriter<ClientMessage>) async throws -> Void,
    onResponse receive:
      @Sendable @escaping (
        RPCAsyncSequence<ServerMessage, any Error>
      ) async throws -> Void
  ) async throws {
    try await self.client.bidirectionalStreaming(
      request: StreamingClientRequest(producer: send), descriptor: Self.method,
      serializer: ClientMessageSerializer(), deserializer: ServerMessageDeserializer(),
      options: self.callOptions
    ) { response in
      try await receive(response.messages)
    }
  }
}
