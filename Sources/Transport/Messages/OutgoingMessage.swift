package import GRPCCore
import GRPCProtobuf
package import SidelightWire

/// A message to be sent: a generated message, or an encoded one that refers to its pixels.
package enum OutgoingMessage<Message: PixelMessage>: Sendable {
  /// A message without pixels, or with few enough to be copied.
  case message(Message)
  /// A message whose pixels are sent without copying. Without a store the transport copies them.
  case envelope(PixelEnvelope<Message>, OutboundMessageStore.CallMessages?)
}

/// The serializer of messages that carry pixels. It sends envelopes as they are.
package struct OutgoingMessageSerializer<Message: PixelMessage>: MessageSerializer {
  package init() {}

  package func serialize<Bytes: GRPCContiguousBytes>(
    _ message: OutgoingMessage<Message>
  ) throws -> Bytes {
    switch message {
    case .message(let message): try ProtobufSerializer<Message>().serialize(message)
    case .envelope(let envelope, let messages): envelope.serialized(storingIn: messages)
    }
  }
}
