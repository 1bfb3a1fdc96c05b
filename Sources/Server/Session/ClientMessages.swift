import GRPCCore
import SidelightTransport
import SidelightWire

/// The messages of one client, in order. The first is read before the session stands, the rest by the
/// session's reader.
final class ClientMessages: @unchecked Sendable {  // one task reads at a time
  private var iterator:
    RPCAsyncSequence<ReceivedMessage<Sidelight_V1_ClientMessage>, any Error>.AsyncIterator

  init(_ messages: RPCAsyncSequence<ReceivedMessage<Sidelight_V1_ClientMessage>, any Error>) {
    self.iterator = messages.makeAsyncIterator()
  }

  /// The next message; `nil` once the client has closed its side.
  func next() async throws -> ReceivedMessage<Sidelight_V1_ClientMessage>? {
    try await self.iterator.next()
  }
}
