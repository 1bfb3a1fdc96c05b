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
  private let maxBytesBesidePixels: Int

  /// - Parameter maxBytesBesidePixels: The bytes that a message may have beside its pixels. A message in
  ///   which the pixels cannot be told apart may have no more in all.
  package init(maxBytesBesidePixels: Int = .max) {
    self.maxBytesBesidePixels = maxBytesBesidePixels
  }

  /// - Throws: `RPCError` with INVALID_ARGUMENT for bytes that are no such message, with
  ///   RESOURCE_EXHAUSTED for one that has too many beside its pixels.
  package func deserialize<Bytes: GRPCContiguousBytes>(
    _ serialized: Bytes
  ) throws -> ReceivedMessage<Message> {
    let apart = try serialized.withUnsafeBytes { bytes in
      let place = PixelPlace(Message.pixelPath, in: bytes)
      try self.check(bytes.count - (place?.pixels.count ?? 0))
      return try place.map { place in
        let rest = place.prefix(of: bytes, pixelByteCount: 0) + place.suffix(of: bytes)
        return (place, try ProtobufDeserializer<Message>().deserialize(rest))
      }
    }
    guard let (place, message) = apart else { return try self.deserializeWhole(serialized) }
    let byteCount = serialized.byteCount
    // Another member of a oneof may follow the pixels, and take their place.
    guard case .inline? = message.carriedImage?.pixels else {
      return ReceivedMessage(message, byteCount: byteCount)
    }
    return ReceivedMessage(
      message, pixels: PixelBuffer(place.pixels, of: serialized), byteCount: byteCount)
  }

  private func check(_ byteCount: Int) throws {
    guard byteCount > self.maxBytesBesidePixels else { return }
    throw RPCError(
      code: .resourceExhausted,
      message: "The message has \(byteCount) bytes beside its pixels; the limit "
        + "(max_control_message_bytes) is \(self.maxBytesBesidePixels).")
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
      message, pixels: PixelBuffer(0 ..< data.count, of: [UInt8](data)), byteCount: byteCount)
  }
}

extension GRPCContiguousBytes {
  fileprivate var byteCount: Int { self.withUnsafeBytes(\.count) }
}
