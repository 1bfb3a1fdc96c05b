/// A message to be sent: as the generated code has it, or encoded with its pixels in place.
package enum OutgoingMessage<Message: PixelMessage>: Sendable {
  /// Without pixels, or with few enough to be copied.
  case message(Message)
  /// With pixels that lie where they are sent from. Without deposits the transport copies them.
  case envelope(PixelEnvelope<Message>, ClaimDesk.Deposits?)
}
