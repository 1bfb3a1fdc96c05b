import Foundation
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Tracing

/// A frame that the session accepted and whose outcome is pending.
struct OutgoingFrame: Sendable {
  let sequence: UInt64
  let frame: VideoFrame
  let trace: Sidelight_V1_TraceContext?
  /// The time of the call of `send`, on the session's clock.
  let submitted: Duration

  /// Creates the message. Called when the frame is sent, to avoid a copy of replaced frames.
  ///
  /// - Parameters:
  ///   - dependency: The frame on which it depends, if that is not the one before it.
  ///   - ring: The shared memory for the pixels, if a slot is free and they fit; otherwise they
  ///     travel inline.
  ///   - callMessages: The store of large messages that wait to be written.
  /// - Throws: The error of the generated code for tags that it cannot encode.
  func message(
    dependingOn dependency: UInt64?, ring: ClientRing?,
    storedIn callMessages: OutboundMessageStore.CallMessages
  ) throws -> OutgoingMessage<Sidelight_V1_ClientMessage> {
    // Compressed pictures are small and travel inline.
    if case .frame(let frame) = self.frame.picture,
      let image = ring?.place(frame, for: self.sequence)
    {
      var message = self.message
      message.image = image
      return .message(.with { $0.frame = message })
    }
    return .envelope(try self.envelope(dependingOn: dependency), callMessages)
  }

  private func envelope(
    dependingOn dependency: UInt64?
  ) throws -> PixelEnvelope<Sidelight_V1_ClientMessage> {
    let message = Sidelight_V1_ClientMessage.with {
      $0.frame = self.message
      if let dependency, $0.frame.image.encoded.dependsOn.isEmpty {
        $0.frame.image.encoded.dependsOn = [dependency]
      }
    }
    switch self.frame.picture {
    case .frame(let frame):
      if frame.isPacked, let envelope = try PixelEnvelope(message, passing: frame.buffer) {
        return envelope
      }
      let envelope = try PixelEnvelope(message, pixelByteCount: frame.packedByteCount)
      frame.copyPacked(into: envelope.pixels)
      return envelope
    case .jpeg(let bytes, _): return try Self.envelope(message, bytes)
    case .encoded(let frame): return try Self.envelope(message, frame.bytes)
    case .omitted: return try Self.envelope(message, [])
    }
  }

  private static func envelope(
    _ message: Sidelight_V1_ClientMessage, _ bytes: [UInt8]
  ) throws -> PixelEnvelope<Sidelight_V1_ClientMessage> {
    let envelope = try PixelEnvelope(message, pixelByteCount: bytes.count)
    envelope.pixels.copy(bytes)
    return envelope
  }

  private var message: Sidelight_V1_Frame {
    .with {
      $0.sequence = self.sequence
      switch self.frame.picture {
      case .frame(let frame):
        $0.image.describe(input: frame.geometry, orientation: frame.orientation)
      case .jpeg(_, let orientation): $0.image.describe(of: nil, orientation: orientation)
      case .encoded(let frame): $0.image.describe(frame)
      case .omitted: break
      }
      // Replaced by a slot, or by the envelope's pixels.
      $0.image.inline = Data()
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

/// Writes the W3C trace context into a frame.
struct TraceContextInjector: Injector {
  func inject(_ value: String, forKey key: String, into carrier: inout Sidelight_V1_TraceContext) {
    switch key {
    case "traceparent": carrier.traceparent = value
    case "tracestate": carrier.tracestate = value
    default: break
    }
  }
}
