import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// A frame that was given, until its outcome is known.
struct OutgoingFrame: Sendable {
  let sequence: UInt64
  let frame: VideoFrame
  let trace: Sidelight_V1_TraceContext?
  /// When `send` was called, on the session's clock.
  let given: Duration

  /// The message. Made when the frame leaves, so that displaced frames cost no copy.
  ///
  /// - Parameters:
  ///   - ring: Where the pixels go if a slot is free and they fit; else they go inline.
  ///   - deposits: Where large messages are left until they are written.
  /// - Throws: What the generated code throws for tags that it cannot encode.
  func message(
    ring: ClientRing?, leavingAt deposits: OutboundMessageStore.CallMessages
  ) throws -> OutgoingMessage<Sidelight_V1_ClientMessage> {
    // Files are small, and travel inline.
    if case .frame(let frame) = self.frame.picture,
      let image = ring?.place(frame, for: self.sequence)
    {
      var message = self.message
      message.image = image
      return .message(.with { $0.frame = message })
    }
    return .envelope(try self.envelope(), deposits)
  }

  private func envelope() throws -> PixelEnvelope<Sidelight_V1_ClientMessage> {
    let message = Sidelight_V1_ClientMessage.with { $0.frame = self.message }
    switch self.frame.picture {
    case .frame(let frame):
      if frame.isPacked, let envelope = try PixelEnvelope(message, passing: frame.buffer) {
        return envelope
      }
      let envelope = try PixelEnvelope(message, pixelByteCount: frame.packedByteCount)
      frame.copyPacked(into: envelope.pixels)
      return envelope
    case .jpeg(let file, _):
      let envelope = try PixelEnvelope(message, pixelByteCount: file.count)
      envelope.pixels.copy(file)
      return envelope
    }
  }

  private var message: Sidelight_V1_Frame {
    .with {
      $0.sequence = self.sequence
      switch self.frame.picture {
      case .frame(let frame):
        $0.image.describe(input: frame.geometry, orientation: frame.orientation)
      case .jpeg(_, let orientation): $0.image.describe(jpegOf: nil, orientation: orientation)
      }
      $0.captureTimeNs = self.frame.captureTimeNanoseconds
      $0.rtpTimestamp = self.frame.rtpTimestamp
      if let budget = self.frame.budget { $0.budgetUs = budget.wireMicroseconds }
      $0.priority = self.frame.priority
      $0.mustProcess = self.frame.mustProcess
      $0.tags = self.frame.tags
      if let trace { $0.trace = trace }
    }
  }
}
