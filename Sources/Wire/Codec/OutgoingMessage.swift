/// A message to be sent: as the generated code has it, or encoded with its pixels in place.
package enum OutgoingMessage<Message: PixelMessage>: Sendable {
  /// Without pixels, or with few enough to be copied.
  case message(Message)
  /// With pixels that were written where they are sent from.
  case envelope(PixelEnvelope<Message>)
}
