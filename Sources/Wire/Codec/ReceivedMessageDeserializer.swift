import Foundation
package import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import SidelightKernels
import SwiftProtobuf

/// Reads messages that carry pixels, without a copy of the pixels.
///
/// The generated code decodes everything but the pixels: it is given the message with none in their
/// place, so that every rule of protobuf stays its own. A message in which the pixels cannot be told
/// apart by walking over its fields (one that is broken, or that states a field on the way more than
/// once) goes to it whole.
package struct ReceivedMessageDeserializer<Message: PixelMessage>: MessageDeserializer {
  package init() {}

  /// - Throws: `RPCError` with INVALID_ARGUMENT for bytes that are no such message.
  package func deserialize<Bytes: GRPCContiguousBytes>(
    _ serialized: Bytes
  ) throws -> ReceivedMessage<Message> {
    let apart = try serialized.withUnsafeBytes { bytes in
      try PixelPlace(Message.pixelPath, in: bytes).map { place in
        let rest = place.prefix(of: bytes, pixelByteCount: 0) + place.suffix(of: bytes)
        return (place, try ProtobufDeserializer<Message>().deserialize(rest))
      }
    }
    guard let (place, message) = apart else { return try self.deserializeWhole(serialized) }
    // Another member of a oneof may follow the pixels, and take their place.
    guard case .inline? = message.carriedImage?.pixels else { return ReceivedMessage(message) }
    return ReceivedMessage(message, pixels: PixelBuffer(place.pixels, of: serialized))
  }

  private func deserializeWhole<Bytes: GRPCContiguousBytes>(
    _ serialized: Bytes
  ) throws -> ReceivedMessage<Message> {
    var message = try ProtobufDeserializer<Message>().deserialize(serialized)
    guard case .inline(let data)? = message.carriedImage?.pixels else {
      return ReceivedMessage(message)
    }
    message.carriedImage?.inline = Data()
    return ReceivedMessage(message, pixels: PixelBuffer(0 ..< data.count, of: [UInt8](data)))
  }
}
