import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import SidelightKernels
import SwiftProtobuf

/// An encoded message whose pixels are still to be written, in place: what a filter writes last is
/// what the transport sends.
///
/// All but the pixels is encoded at once. What becomes known only later is patched in, at its place:
/// see ``setTiming(queue:process:total:)``.
@safe
package final class PixelEnvelope<Message: PixelMessage>: @unchecked Sendable {
  // Written by one owner at a time, before it is handed to the transport.
  private let bytes: GRPCNIOTransportBytes
  private let start: UnsafeMutableRawPointer
  private let pixelRange: Range<Int>
  /// Where the payload of a patchable timing lies.
  let timingOffset: Int?

  /// - Parameters:
  ///   - message: The message, with an image; whatever pixels that has are left out.
  ///   - pixelByteCount: The bytes of the pixels that will be written.
  /// - Throws: What the generated code throws for a message that it cannot encode;
  ///   ``PixelEnvelopeError`` for one that has no one place for pixels.
  package convenience init(_ message: Message, pixelByteCount: Int) throws {
    try self.init(message, pixelByteCount: pixelByteCount, timingPath: nil)
  }

  init(_ message: Message, pixelByteCount: Int, timingPath: [Int]?) throws {
    var template = message
    template.carriedImage?.inline = Data()
    // What we do not know of an image we do not repeat: it may look like what leads to the pixels.
    template.carriedImage?.unknownFields = UnknownStorage()
    let encoded: [UInt8] = try template.serializedBytes()
    let (prefix, suffix, timing) = try encoded.withUnsafeBytes { bytes in
      guard let place = PixelPlace(Message.pixelPath, in: bytes) else {
        throw PixelEnvelopeError()
      }
      // The timing stands behind the image: fields are encoded in the order of their numbers.
      let timing = timingPath.flatMap { PixelPlace($0, in: bytes) }?.pixels.lowerBound
      return (
        place.prefix(of: bytes, pixelByteCount: pixelByteCount), [UInt8](place.suffix(of: bytes)),
        timing.map { $0 - place.pixels.upperBound }
      )
    }
    self.bytes = GRPCNIOTransportBytes(
      UnwrittenBytes(count: prefix.count + pixelByteCount + suffix.count))
    self.start = self.bytes.withUnsafeBytes {
      UnsafeMutableRawPointer(mutating: $0.baseAddress.unsafelyUnwrapped)
    }
    self.pixelRange = prefix.count ..< prefix.count + pixelByteCount
    self.timingOffset = timing.map { prefix.count + pixelByteCount + $0 }
    self.start.copyMemory(from: prefix, byteCount: prefix.count)
    (self.start + self.pixelRange.upperBound).copyMemory(from: suffix, byteCount: suffix.count)
  }

  /// The bytes of the message, in all.
  package var byteCount: Int { self.bytes.count }

  /// The place of the pixels, to be written. It keeps the envelope alive.
  package var pixels: PixelBuffer {
    PixelBuffer(
      borrowing: UnsafeMutableRawBufferPointer(
        start: self.start + self.pixelRange.lowerBound, count: self.pixelRange.count)
    ) { _ in withExtendedLifetime(self) {} }
  }

  /// Writes a 32-bit number over one that was encoded in five bytes.
  func patch(_ value: UInt32, at offset: Int) {
    for index in 0 ..< 5 {
      let bits = UInt8(truncatingIfNeeded: value >> UInt32(7 * index)) & 0x7F
      self.start.storeBytes(
        of: index < 4 ? bits | 0x80 : bits, toByteOffset: offset + index, as: UInt8.self)
    }
  }

  /// The whole message. Nothing may be written any more.
  func serialized<Bytes: GRPCContiguousBytes>() -> Bytes {
    if let bytes = self.bytes as? Bytes { return bytes }
    return self.bytes.withUnsafeBytes { Bytes($0) }
  }
}

/// A message has no image, or unknown fields where its pixels are to stand.
package struct PixelEnvelopeError: Error {}

extension PixelEnvelope<Sidelight_V1_ServerMessage> {
  /// An envelope for a frame's outcome, whose timing may be set until it is sent.
  package static func outcome(
    _ frame: Sidelight_V1_FilteredFrame, pixelByteCount: Int
  ) throws -> PixelEnvelope {
    // The largest numbers take as much room as any.
    var frame = frame
    frame.timing.queueUs = .max
    frame.timing.processUs = .max
    frame.timing.totalUs = .max
    return try PixelEnvelope(
      .with { $0.frame = frame }, pixelByteCount: pixelByteCount,
      timingPath: [1, 8])  // frame, timing
  }

  /// Says where the time of the frame went, in microseconds.
  package func setTiming(_ timing: Sidelight_V1_FrameTiming) {
    guard let offset = self.timingOffset else { return }
    // Each number stands behind a tag of one byte.
    self.patch(timing.queueUs, at: offset + 1)
    self.patch(timing.processUs, at: offset + 7)
    self.patch(timing.totalUs, at: offset + 13)
  }
}
