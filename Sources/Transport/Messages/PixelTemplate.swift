import Foundation
import NIOCore
import SwiftProtobuf

/// A message, encoded but for its pixels.
struct PixelTemplate {
  /// What stands before the pixels, gRPC's prefix first.
  let head: [UInt8]
  /// What stands behind them.
  let tail: [UInt8]
  let pixelByteCount: Int
  /// The offset of a patchable timing's payload in the tail.
  private(set) var timing: Int?

  /// - Parameters:
  ///   - message: The message, with an image; whatever pixels that has are left out.
  ///   - timingPath: The fields that lead to a timing which stands behind the image.
  /// - Throws: What the generated code throws for a message that it cannot encode;
  ///   ``PixelEnvelopeError`` for one that has no one place for pixels.
  init<Message: PixelMessage>(
    _ message: Message, pixelByteCount: Int, timingPath: [Int]? = nil
  ) throws {
    var template = message
    template.carriedImage?.inline = Data()
    // What we do not know of an image we do not repeat: it may look like what leads to the pixels.
    template.carriedImage?.unknownFields = UnknownStorage()
    let encoded: [UInt8] = try template.serializedBytes()
    (self.head, self.tail, self.timing) = try encoded.withUnsafeBytes { bytes in
      guard let place = PixelPlace(Message.pixelPath, in: bytes) else {
        throw PixelEnvelopeError()
      }
      let before = place.prefix(of: bytes, pixelByteCount: pixelByteCount)
      let after = [UInt8](place.suffix(of: bytes))
      var head = ByteBuffer()
      head.writePrefix(ofMessageWith: before.count + pixelByteCount + after.count)
      head.writeBytes(before)
      // The timing stands behind the image: fields are encoded in the order of their numbers.
      let timing = timingPath.flatMap { PixelPlace($0, in: bytes) }?.pixels.lowerBound
      return ([UInt8](head.readableBytesView), after, timing.map { $0 - place.pixels.upperBound })
    }
    self.pixelByteCount = pixelByteCount
  }

  /// A frame's outcome, with a timing that takes as much room as any.
  init(outcome: Sidelight_V1_FilteredFrame, pixelByteCount: Int) throws {
    var frame = outcome
    frame.timing.queueUs = .max
    frame.timing.processUs = .max
    frame.timing.totalUs = .max
    try self.init(
      Sidelight_V1_ServerMessage.with { $0.frame = frame }, pixelByteCount: pixelByteCount,
      timingPath: [1, 8])  // frame, timing
  }
}
