import Foundation
import GRPCCore
package import NIOCore
package import SidelightKernels
import SwiftProtobuf

/// An encoded message whose pixels are not copied into it: what a filter writes last, or what came, is
/// what the transport sends.
///
/// All but the pixels is encoded at once. What becomes known only later is patched in, at its place:
/// see ``setTiming(_:)``.
@safe
package final class PixelEnvelope<Message: PixelMessage>: @unchecked Sendable {
  // Written by one owner at a time, before it is handed to the transport.
  private let message: FramedMessage
  /// The memory that ``room`` and ``timing`` point into.
  private let memory: WritableByteBuffer
  /// Where the pixels are written; empty where they came.
  private let room: UnsafeMutableRawBufferPointer
  /// Where the payload of a patchable timing lies.
  let timing: UnsafeMutableRawPointer?

  /// A message with room for pixels.
  ///
  /// - Parameters:
  ///   - message: The message, with an image; whatever pixels that has are left out.
  ///   - pixelByteCount: The bytes of the pixels that will be written.
  /// - Throws: What the generated code throws for a message that it cannot encode;
  ///   ``PixelEnvelopeError`` for one that has no one place for pixels.
  package convenience init(_ message: Message, pixelByteCount: Int) throws {
    try self.init(PixelTemplate(message, pixelByteCount: pixelByteCount))
  }

  /// A message around pixels that came: they lie where they lie.
  package convenience init(_ message: Message, passing pixels: ByteBuffer) throws {
    try self.init(
      PixelTemplate(message, pixelByteCount: pixels.readableBytes), passing: pixels)
  }

  fileprivate init(_ template: PixelTemplate) {
    let memory = WritableByteBuffer(
      unwritten: template.head.count + template.pixelByteCount + template.tail.count)
    let afterHead = memory.bytes[template.head.count...]
    let afterPixels = afterHead.dropFirst(template.pixelByteCount)
    memory.bytes.copyBytes(from: template.head)
    let tail = UnsafeMutableRawBufferPointer(rebasing: afterPixels)
    tail.copyBytes(from: template.tail)
    self.memory = memory
    self.message = FramedMessage([memory.buffer])
    self.room = UnsafeMutableRawBufferPointer(
      rebasing: afterHead.prefix(template.pixelByteCount))
    self.timing = template.timing.flatMap { offset in tail.baseAddress.map { $0 + offset } }
  }

  fileprivate init(_ template: PixelTemplate, passing pixels: ByteBuffer) {
    let tail = WritableByteBuffer(template.tail)
    let pieces = [ByteBuffer(bytes: template.head), pixels, tail.buffer]
    // A peer may take empty frames for an attack.
    self.memory = tail
    self.message = FramedMessage(pieces.filter { $0.readableBytes > 0 })
    self.room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    self.timing = template.timing.flatMap { offset in tail.bytes.baseAddress.map { $0 + offset } }
  }

  /// The bytes of the message, in all.
  package var byteCount: Int { self.message.byteCount }

  /// The place of the pixels, to be written. It keeps the envelope alive.
  ///
  /// - Precondition: The envelope was made with room for them.
  package var pixels: PixelBuffer {
    precondition(self.room.baseAddress != nil, "the pixels are there")
    return PixelBuffer(borrowing: self.room) { _ in withExtendedLifetime(self) {} }
  }

  /// Writes a 32-bit number over one that was encoded in five bytes.
  func patch(_ value: UInt32, at place: UnsafeMutableRawPointer) {
    for index in 0 ..< 5 {
      let bits = UInt8(truncatingIfNeeded: value >> UInt32(7 * index)) & 0x7F
      place.storeBytes(
        of: index < 4 ? bits | 0x80 : bits, toByteOffset: index, as: UInt8.self)
    }
  }

  /// The whole message, or what stands in for it. Nothing may be written any more.
  ///
  /// - Parameter deposits: Where the message is left; `nil`: it is copied.
  func serialized<Bytes: GRPCContiguousBytes>(leavingAt deposits: ClaimDesk.Deposits?) -> Bytes {
    guard let deposits, self.byteCount >= FramedMessage.claimedByteCount else {
      return self.message.joined()
    }
    return Bytes(deposits.leave(self.message).bytes.readableBytesView)
  }
}

/// A message has no image, or unknown fields where its pixels are to stand.
package struct PixelEnvelopeError: Error {}

extension PixelEnvelope<Sidelight_V1_ServerMessage> {
  /// An envelope with room for a frame's outcome, whose timing may be set until it is sent.
  package static func outcome(
    _ frame: Sidelight_V1_FilteredFrame, pixelByteCount: Int
  ) throws -> PixelEnvelope {
    try PixelEnvelope(PixelTemplate(outcome: frame, pixelByteCount: pixelByteCount))
  }

  /// An envelope around a frame's own pixels, whose timing may be set until it is sent.
  package static func outcome(
    _ frame: Sidelight_V1_FilteredFrame, passing pixels: ByteBuffer
  ) throws -> PixelEnvelope {
    try PixelEnvelope(
      PixelTemplate(outcome: frame, pixelByteCount: pixels.readableBytes), passing: pixels)
  }

  /// Says where the time of the frame went, in microseconds.
  package func setTiming(_ timing: Sidelight_V1_FrameTiming) {
    guard let place = self.timing else { return }
    // Each number stands behind a tag of one byte.
    self.patch(timing.queueUs, at: place + 1)
    self.patch(timing.processUs, at: place + 7)
    self.patch(timing.totalUs, at: place + 13)
  }
}
