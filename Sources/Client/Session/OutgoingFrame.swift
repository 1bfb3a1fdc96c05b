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
  /// - Parameter ring: Where the pixels go if a slot is free and they fit; else they go inline.
  /// - Throws: What the generated code throws for tags that it cannot encode.
  func message(
    ring: ClientRing?
  ) throws -> OutgoingMessage<Sidelight_V1_ClientMessage> {
    if let image = ring?.place(self.frame.picture, for: self.sequence) {
      var message = self.message
      message.image = image
      return .message(.with { $0.frame = message })
    }
    return .envelope(try self.envelope())
  }

  private func envelope() throws -> PixelEnvelope<Sidelight_V1_ClientMessage> {
    let picture = self.frame.picture
    let envelope = try PixelEnvelope<Sidelight_V1_ClientMessage>(
      .with { $0.frame = self.message }, pixelByteCount: picture.packedByteCount)
    picture.copyPacked(into: envelope.pixels)
    return envelope
  }

  private var message: Sidelight_V1_Frame {
    .with {
      $0.sequence = self.sequence
      $0.image.describe(
        self.frame.picture.geometry, orientation: self.frame.picture.orientation)
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
