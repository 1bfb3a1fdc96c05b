import Foundation
package import GRPCCore
import GRPCProtobuf
package import SidelightKernels
package import SidelightWire

/// A received message and, separately, its pixels, which remain in the transport's buffer.
package struct ReceivedMessage<Message: PixelMessage>: Sendable {
  /// The message. If it has pixels, its image has an empty `inline`.
  package var message: Message
  /// The pixels, if the message has any.
  package var pixels: PixelBuffer?
  /// The bytes of the encoded message, pixels included.
  package var byteCount: Int

  package init(_ message: Message, pixels: PixelBuffer? = nil, byteCount: Int) {
    self.message = message
    self.pixels = pixels
    self.byteCount = byteCount
  }
}

/// The deserializer of messages that carry pixels. It does not copy the pixels.
///
/// The generated code decodes everything but the pixels: it gets the message without them, and
/// applies every rule of protobuf. A message whose pixels cannot be located by walking over its
/// fields (it is malformed, or has a field on the path more than once) is decoded whole.
package struct ReceivedMessageDeserializer<Message: PixelMessage>: MessageDeserializer {
  private let maxBytesWithoutPixels: Int

  /// - Parameter maxBytesWithoutPixels: The maximum size of a message without its pixels, in bytes.
  ///   It applies to the whole message if its pixels cannot be located.
  package init(maxBytesWithoutPixels: Int = .max) {
    self.maxBytesWithoutPixels = maxBytesWithoutPixels
  }

  /// - Throws: `RPCError` with INVALID_ARGUMENT for bytes that cannot be decoded, with
  ///   RESOURCE_EXHAUSTED for a message with too many bytes besides its pixels.
  package func deserialize<Bytes: GRPCContiguousBytes>(
    _ serialized: Bytes
  ) throws -> ReceivedMessage<Message> {
    let located = try serialized.withUnsafeBytes { bytes in
      let location = PixelLocation(Message.pixelPath, in: bytes)
      try self.check(bytes.count - (location?.pixels.count ?? 0))
      return try location.map { location in
        let rest = location.messageWithoutPixels(of: bytes)
        return (location, try ProtobufDeserializer<Message>().deserialize(rest))
      }
    }
    guard let (location, message) = located else { return try self.deserializeWhole(serialized) }
    let byteCount = serialized.byteCount
    // Another member of a oneof may follow the pixels and replace them.
    guard case .inline? = message.carriedImage?.pixels else {
      return ReceivedMessage(message, byteCount: byteCount)
    }
    return ReceivedMessage(
      message, pixels: PixelBuffer(location.pixels, of: serialized), byteCount: byteCount)
  }

  private func check(_ byteCount: Int) throws {
    guard byteCount > self.maxBytesWithoutPixels else { return }
    throw RPCError(
      code: .resourceExhausted,
      message: "The message has \(byteCount) bytes besides its pixels; the limit "
        + "(max_control_message_bytes) is \(self.maxBytesWithoutPixels).")
  }

  private func deserializeWhole<Bytes: GRPCContiguousBytes>(
    _ serialized: Bytes
  ) throws -> ReceivedMessage<Message> {
    var message = try ProtobufDeserializer<Message>().deserialize(serialized)
    let byteCount = serialized.byteCount
    guard case .inline(let data)? = message.carriedImage?.pixels else {
      return ReceivedMessage(message, byteCount: byteCount)
    }
    message.carriedImage?.inline = Data()
    return ReceivedMessage(
      message, pixels: data.withUnsafeBytes { PixelBuffer(copying: $0) },
      byteCount: byteCount)
  }
}

extension GRPCContiguousBytes {
  fileprivate var byteCount: Int { self.withUnsafeBytes(\.count) }
}
