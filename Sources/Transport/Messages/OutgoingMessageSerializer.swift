package import GRPCCore
import GRPCProtobuf

/// Writes messages that carry pixels; those in envelopes as they are.
package struct OutgoingMessageSerializer<Message: PixelMessage>: MessageSerializer {
  package init() {}

  package func serialize<Bytes: GRPCContiguousBytes>(
    _ message: OutgoingMessage<Message>
  ) throws -> Bytes {
    switch message {
    case .message(let message): try ProtobufSerializer<Message>().serialize(message)
    case .envelope(let envelope, let deposits): envelope.serialized(leavingAt: deposits)
    }
  }
}
