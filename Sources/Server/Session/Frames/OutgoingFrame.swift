import GRPCCore
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// A finished frame on its way to the writer.
struct OutgoingFrame: Sendable {
  /// The outcome's message.
  enum Content: Sendable {
    /// A message with its pixels, encoded.
    case picture(PixelEnvelope<Sidelight_V1_ServerMessage>)
    /// A message with its pixels in a slot, which belongs to the client once the message is sent.
    case slot(Sidelight_V1_FilteredFrame, SessionRing.Output)
    /// A message without pixels.
    case bare(Sidelight_V1_FilteredFrame)
    /// A picture that is encoded when it is written, and its message.
    case unencoded(UnencodedPicture, Sidelight_V1_FilteredFrame)
  }

  /// The message without its timing.
  var content: Content
  /// The timing without its total.
  var timing: Sidelight_V1_FrameTiming
  /// The time of the frame's arrival, on the session's clock.
  let received: Duration
  /// Whether an operator forced the pipeline.
  let isOverride: Bool
  /// The results that a composed frame shows; `nil` for other frames.
  let composition: ComposedResults?
  /// The span from arrival to outcome.
  let span: FrameSpan

  /// Returns the message with its timing.
  ///
  /// - Parameter callMessages: The store for large messages until they are written; `nil` copies
  ///   them.
  func message(
    storedIn callMessages: OutboundMessageStore.CallMessages?
  ) -> OutgoingMessage<Sidelight_V1_ServerMessage> {
    switch self.content {
    case .picture(let envelope):
      envelope.setTiming(self.timing)
      return .envelope(envelope, callMessages)
    case .bare(var frame), .slot(var frame, _):
      frame.timing = self.timing
      return .message(.with { $0.frame = frame })
    case .unencoded: preconditionFailure("the picture has not been encoded")
    }
  }
}

/// An outcome's picture. Its pixels are written where the transport sends them from, or into the
/// client's slot.
struct OutgoingPicture: Sendable {
  /// The outcome's message.
  let content: OutgoingFrame.Content
  /// The bytes of pixels.
  let byteCount: Int
  /// The samples of the picture, for named outputs and compositions; `nil` for received pixels.
  let samples: Frame?
  /// The layout of the planes in the message or slot, or `nil` if the picture is complete.
  private let layout: FrameLayout?
  private let memory: PixelBuffer

  /// Allocates a picture of samples.
  ///
  /// - Parameters:
  ///   - outcome: The message without the picture.
  ///   - ring: The shared memory to use if a slot is free and large enough; else the message holds
  ///     the pixels.
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
    self.samples = Frame(
      layout: layout, color: geometry.color, orientation: orientation, buffer: self.memory)
  }

  /// Sends the samples of a frame from their memory, or a copy if the transport cannot.
  ///
  /// - Parameter outcome: The message without the picture.
  /// - Throws: `FrameLayoutError` for a size that no frame can have.
  init(sending frame: Frame, outcome: Sidelight_V1_FilteredFrame) throws {
    var outcome = outcome
    outcome.image = Sidelight_V1_Image()
    outcome.image.describe(frame.geometry, orientation: frame.orientation)
    let layout = try FrameLayout(packed: frame.format, size: frame.size)
    if layout == frame.layout,
      let envelope = try PixelEnvelope.outcome(
        outcome, passing: frame.buffer.prefix(layout.byteCount))
    {
      (self.content, self.memory) = (.picture(envelope), frame.buffer)
    } else {
      let envelope = try PixelEnvelope.outcome(outcome, pixelByteCount: layout.byteCount)
      (self.content, self.memory) = (.picture(envelope), envelope.pixels)
      frame.copyPacked(into: envelope.pixels)
    }
    self.layout = nil
    self.byteCount = layout.byteCount
    self.samples = nil
  }

  /// Copies a compressed picture into a message. Its length is known only once it is encoded, so it
  /// cannot be encoded in place; it is a tenth of its samples or less.
  ///
  /// - Parameters:
  ///   - outcome: The message, which describes the picture.
  ///   - samples: The samples from which it was encoded, if they are kept.
  /// - Throws: ``FieldViolation`` for a picture that exceeds the limits.
  init(
    compressed bytes: RawSpan, of samples: Frame? = nil, outcome: Sidelight_V1_FilteredFrame,
    limits: FrameLimits
  ) throws {
    guard bytes.byteCount <= limits.maxBytes else {
      throw FieldViolation(
        code: .resourceExhausted, field: "output",
        reason: "would be a frame of \(bytes.byteCount) bytes, the limit is \(limits.maxBytes)")
    }
    self.layout = nil
    self.samples = samples
    self.byteCount = bytes.byteCount
    let envelope = try PixelEnvelope.outcome(outcome, pixelByteCount: bytes.byteCount)
    self.content = .picture(envelope)
    self.memory = envelope.pixels
    bytes.withUnsafeBytes { envelope.pixels.bytes.copyMemory(from: $0) }
  }

  /// Keeps samples until they are encoded.
  ///
  /// - Parameter outcome: The message without the picture.
  init(unencoded picture: UnencodedPicture, outcome: Sidelight_V1_FilteredFrame) {
    self.layout = nil
    self.samples = picture.frame
    self.byteCount = 0
    self.content = .unencoded(picture, outcome)
    self.memory = picture.frame.buffer
  }

  /// Keeps samples for named outputs. The session's message has no pixels.
  ///
  /// - Parameter outcome: The message without the picture.
  init(samples frame: Frame, outcome: Sidelight_V1_FilteredFrame) {
    var outcome = outcome
    outcome.image = Sidelight_V1_Image()
    outcome.image.describe(frame.geometry, orientation: frame.orientation)
    outcome.image.pixels = nil
    self.layout = nil
    self.samples = frame
    self.byteCount = 0
    self.content = .bare(outcome)
    self.memory = frame.buffer
  }

  /// Sends a frame's own pixels back, without a copy if the transport can send them from their
  /// memory.
  ///
  /// - Parameter outcome: The message, with the frame's own image.
  init(passing pixels: PixelBuffer, outcome: Sidelight_V1_FilteredFrame) throws {
    self.layout = nil
    self.samples = nil
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

  /// The picture's memory, to be written once.
  var frame: MutableFrame {
    guard let layout else { preconditionFailure("the picture is complete") }
    return MutableFrame(layout: layout, buffer: self.memory)
  }
}
