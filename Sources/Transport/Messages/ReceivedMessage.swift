package import SidelightKernels

/// A message that came, its pixels apart: they stay where the transport put them.
package struct ReceivedMessage<Message: PixelMessage>: Sendable {
  /// The message. Where it brought pixels, its image has an empty `inline` in their place.
  package var message: Message
  /// The pixels, if the message brought any.
  package var pixels: PixelBuffer?
  /// The bytes of the message as it came, pixels included.
  package var byteCount: Int

  package init(_ message: Message, pixels: PixelBuffer? = nil, byteCount: Int) {
    self.message = message
    self.pixels = pixels
    self.byteCount = byteCount
  }
}
