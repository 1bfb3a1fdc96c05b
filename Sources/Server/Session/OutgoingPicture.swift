import GRPCCore
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// A picture in the making: its pixels are written where they are sent from, or where the client reads
/// them.
struct OutgoingPicture: Sendable {
  /// The outcome's message.
  let content: OutgoingFrame.Content
  /// Where the planes lie in the message or slot.
  private let layout: FrameLayout?
  private let memory: PixelBuffer
  /// Bytes of pixels.
  let byteCount: Int

  /// Room for a picture.
  ///
  /// - Parameters:
  ///   - outcome: The message, but for the picture.
  ///   - ring: Where the picture goes if a slot is free and it fits; else it goes in the message.
  /// - Throws: `FrameLayoutError` for a size that no frame can have.
  init(
    shapedAs geometry: FrameGeometry, orientation: Orientation,
    outcome: Sidelight_V1_FilteredFrame, ring: SessionRing? = nil
  ) throws {
    let layout = try FrameLayout(packed: geometry.format, size: geometry.size)
    var outcome = outcome
    outcome.image = Sidelight_V1_Image()
    outcome.image.describe(geometry, orientation: orientation)
    self.layout = layout
    self.byteCount = layout.byteCount
    if let output = ring?.makeOutput(byteCount: layout.byteCount) {
      outcome.image.sharedMemory.slot = UInt32(output.slot)
      outcome.image.sharedMemory.length = UInt64(layout.byteCount)
      self.content = .slot(outcome, output)
      self.memory = output.memory
    } else {
      let envelope = try PixelEnvelope.outcome(outcome, pixelByteCount: layout.byteCount)
      self.content = .picture(envelope)
      self.memory = envelope.pixels
    }
  }

  /// A picture that is a JPEG file. How long it is, is known only when it is made, so it is copied to
  /// where it is sent from: a tenth of what its samples are.
  ///
  /// - Parameter outcome: The message, but for the picture.
  /// - Throws: ``FieldFault`` for a file longer than the limits allow.
  init(
    jpeg file: RawSpan, of size: FrameSize, orientation: Orientation,
    outcome: Sidelight_V1_FilteredFrame, limits: FrameLimits
  ) throws {
    guard file.byteCount <= limits.maxBytes else {
      throw FieldFault(
        code: .resourceExhausted, field: "output",
        reason: "a frame of \(file.byteCount) bytes was made, the limit is \(limits.maxBytes)")
    }
    var outcome = outcome
    outcome.image = Sidelight_V1_Image()
    outcome.image.describe(jpegOf: size, orientation: orientation)
    self.layout = nil
    self.byteCount = file.byteCount
    let envelope = try PixelEnvelope.outcome(outcome, pixelByteCount: file.byteCount)
    self.content = .picture(envelope)
    self.memory = envelope.pixels
    file.withUnsafeBytes { envelope.pixels.bytes.copyMemory(from: $0) }
  }

  /// A frame's own pixels, byte by byte: from where they came, if the transport can send them from there.
  ///
  /// - Parameter outcome: The message, with the image as it came.
  init(passing pixels: PixelBuffer, outcome: Sidelight_V1_FilteredFrame) throws {
    self.layout = nil
    self.byteCount = pixels.byteCount
    if let envelope = try PixelEnvelope.outcome(outcome, passing: pixels) {
      self.content = .picture(envelope)
      self.memory = pixels
    } else {
      let envelope = try PixelEnvelope.outcome(outcome, pixelByteCount: pixels.byteCount)
      self.content = .picture(envelope)
      self.memory = envelope.pixels
      self.memory.copy(pixels)
    }
  }

  /// The picture, to be written once.
  var frame: MutableFrame {
    guard let layout else { preconditionFailure("the picture is written") }
    return MutableFrame(layout: layout, buffer: self.memory)
  }
}
