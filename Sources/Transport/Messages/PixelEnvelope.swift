import Foundation
package import GRPCCore
import GRPCProtobuf
import NIOCore
package import SidelightKernels
package import SidelightWire
import SwiftProtobuf

/// An encoded message whose pixels are not copied into it: the transport sends the memory that a
/// filter wrote, or that was received.
///
/// Everything but the pixels is encoded at once. Values that become known later are patched in:
/// see ``setTiming(_:)``.
@safe
package final class PixelEnvelope<Message: PixelMessage>: @unchecked Sendable {
  // Written by one owner at a time, before it is handed to the transport.
  private let message: FramedMessage
  /// The owner of the memory of ``storage`` and ``timing``.
  private let memory: WritableByteBuffer
  /// The memory for the pixels; empty if they were received.
  private let storage: UnsafeMutableRawBufferPointer
  /// The payload of a patchable timing.
  private let timing: UnsafeMutableRawPointer?

  /// Encodes a message with memory for its pixels.
  ///
  /// - Parameters:
  ///   - message: The message, with an image; pixels in it are left out.
  ///   - pixelByteCount: The bytes of the pixels that will be written.
  /// - Throws: The errors of the generated code for a message that it cannot encode;
  ///   ``PixelEnvelopeError`` for a message without exactly one location for pixels.
  package convenience init(_ message: Message, pixelByteCount: Int) throws {
    try self.init(PixelTemplate(message, pixelByteCount: pixelByteCount))
  }

  /// Encodes a message around pixels that the transport can send without copying.
  ///
  /// - Returns: `nil` if the pixels have to be copied.
  /// - Throws: As ``init(_:pixelByteCount:)``.
  package convenience init?(_ message: Message, passing pixels: PixelBuffer) throws {
    guard let bytes = pixels.transportBytes else { return nil }
    try self.init(PixelTemplate(message, pixelByteCount: bytes.readableBytes), passing: bytes)
  }

  private init(_ template: PixelTemplate) {
    let memory = WritableByteBuffer(
      unwritten: template.head.count + template.pixelByteCount + template.tail.count)
    let afterHead = memory.bytes[template.head.count...]
    let afterPixels = afterHead.dropFirst(template.pixelByteCount)
    memory.bytes.copyBytes(from: template.head)
    let tail = UnsafeMutableRawBufferPointer(rebasing: afterPixels)
    tail.copyBytes(from: template.tail)
    self.memory = memory
    self.message = FramedMessage([memory.buffer])
    self.storage = UnsafeMutableRawBufferPointer(
      rebasing: afterHead.prefix(template.pixelByteCount))
    self.timing = template.timing.flatMap { offset in tail.baseAddress.map { $0 + offset } }
  }

  private init(_ template: PixelTemplate, passing pixels: ByteBuffer) {
    let tail = WritableByteBuffer(template.tail)
    let pieces = [ByteBuffer(bytes: template.head), pixels, tail.buffer]
    // A peer may count empty frames as an attack.
    self.memory = tail
    self.message = FramedMessage(pieces.filter { $0.readableBytes > 0 })
    self.storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    self.timing = template.timing.flatMap { offset in tail.bytes.baseAddress.map { $0 + offset } }
  }

  /// The bytes of the whole message.
  package var byteCount: Int { self.message.byteCount }

  /// The memory for the pixels. It keeps the envelope alive.
  ///
  /// - Precondition: The envelope was created with ``init(_:pixelByteCount:)``.
  package var pixels: PixelBuffer {
    precondition(self.storage.baseAddress != nil, "the envelope has no memory for pixels")
    return PixelBuffer(borrowing: self.storage) { _ in withExtendedLifetime(self) {} }
  }

  /// Overwrites a number that was encoded in five bytes with a 32-bit number.
  private func patch(_ value: UInt32, at location: UnsafeMutableRawPointer) {
    for index in 0 ..< 5 {
      let bits = UInt8(truncatingIfNeeded: value >> UInt32(7 * index)) & 0x7F
      location.storeBytes(
        of: index < 4 ? bits | 0x80 : bits, toByteOffset: index, as: UInt8.self)
    }
  }

  /// Returns the whole message, or its handle. Callers must not write to it afterwards.
  ///
  /// - Parameter messages: The store of the call; `nil` copies the message.
  func serialized<Bytes: GRPCContiguousBytes>(
    storingIn messages: OutboundMessageStore.CallMessages?
  ) -> Bytes {
    guard let messages, self.message.isWorthStoring else { return self.message.joined() }
    return Bytes(messages.insert(self.message).bytes.readableBytesView)
  }
}

/// An error about a message without an image, or with unknown fields on the path to its pixels.
package struct PixelEnvelopeError: Error {}

extension PixelEnvelope<Sidelight_V1_ServerMessage> {
  /// Returns an envelope with memory for a filtered frame. Its timing may be set until it is sent.
  package static func outcome(
    _ frame: Sidelight_V1_FilteredFrame, pixelByteCount: Int
  ) throws -> PixelEnvelope {
    try PixelEnvelope(PixelTemplate(outcome: frame, pixelByteCount: pixelByteCount))
  }

  /// Returns an envelope around a frame's own pixels, whose timing may be set until it is sent;
  /// `nil` if the pixels have to be copied.
  package static func outcome(
    _ frame: Sidelight_V1_FilteredFrame, passing pixels: PixelBuffer
  ) throws -> PixelEnvelope? {
    guard let bytes = pixels.transportBytes else { return nil }
    return try PixelEnvelope(
      PixelTemplate(outcome: frame, pixelByteCount: bytes.readableBytes), passing: bytes)
  }

  /// Sets the frame's timing, in microseconds.
  package func setTiming(_ timing: Sidelight_V1_FrameTiming) {
    guard let location = self.timing else { return }
    // A number follows a tag of one byte.
    self.patch(timing.queueUs, at: location + 1)
    self.patch(timing.processUs, at: location + 7)
    self.patch(timing.totalUs, at: location + 13)
  }
}

/// A message that is encoded except for its pixels.
private struct PixelTemplate {
  /// The bytes before the pixels, gRPC's prefix first.
  let head: [UInt8]
  /// The bytes behind the pixels.
  let tail: [UInt8]
  let pixelByteCount: Int
  /// The offset of a patchable timing's payload in the tail.
  private(set) var timing: Int?

  /// - Parameters:
  ///   - message: The message, with an image; pixels in it are left out.
  ///   - timingPath: The fields that lead to a timing behind the image.
  /// - Throws: The errors of the generated code for a message that it cannot encode;
  ///   ``PixelEnvelopeError`` for a message without exactly one location for pixels.
  init<Message: PixelMessage>(
    _ message: Message, pixelByteCount: Int, timingPath: [Int]? = nil
  ) throws {
    let encoded: [UInt8] = try message.withEmptyPixels.serializedBytes()
    (self.head, self.tail, self.timing) = try encoded.withUnsafeBytes { bytes in
      guard let location = PixelLocation(Message.pixelPath, in: bytes) else {
        throw PixelEnvelopeError()
      }
      let after = [UInt8](UnsafeRawBufferPointer(rebasing: location.suffix(of: bytes)))
      var head = [UInt8](repeating: 0, count: MessagePrefix.byteCount)
      head.reserveCapacity(MessagePrefix.byteCount + bytes.count + Self.maxLengthGrowth)
      location.appendPrefix(of: bytes, pixelByteCount: pixelByteCount, to: &head)
      let byteCount = head.count - MessagePrefix.byteCount + pixelByteCount + after.count
      withUnsafeBytes(of: UInt32(byteCount).bigEndian) {
        head.replaceSubrange(1 ..< MessagePrefix.byteCount, with: $0)
      }
      // The timing follows the image: fields are encoded in the order of their numbers.
      let timing = timingPath.flatMap { PixelLocation($0, in: bytes) }?.pixels.lowerBound
      return (head, after, timing.map { $0 - location.pixels.upperBound })
    }
    self.pixelByteCount = pixelByteCount
  }

  /// The maximum number of bytes by which the lengths of the fields around the pixels grow with the
  /// pixels.
  private static let maxLengthGrowth = 3 * 9

  /// Encodes a filtered frame, with a timing that has the maximum encoded length.
  init(outcome: Sidelight_V1_FilteredFrame, pixelByteCount: Int) throws {
    var frame = outcome
    frame.timing = .with {
      $0.queueUs = .max
      $0.processUs = .max
      $0.totalUs = .max
    }
    try self.init(
      Sidelight_V1_ServerMessage.with { $0.frame = frame }, pixelByteCount: pixelByteCount,
      timingPath: [1, 8])  // frame, timing
  }
}

extension PixelMessage {
  /// The message with an image whose pixels are inline and empty.
  fileprivate var withEmptyPixels: Self {
    guard var image = self.carriedImage else { return self }
    // Unknown fields of an image are not repeated: they may look like the path to the pixels.
    if image.pixels == .inline(Data()), image.unknownFields.data.isEmpty { return self }
    image.inline = Data()
    image.unknownFields = UnknownStorage()
    var message = self
    message.carriedImage = image
    return message
  }
}

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
