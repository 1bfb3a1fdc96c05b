import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// A frame that was made, on its way to the writer.
struct OutgoingFrame: Sendable {
  /// What comes back.
  enum Content: Sendable {
    /// With its pixels, encoded.
    case picture(PixelEnvelope<Sidelight_V1_ServerMessage>)
    /// With its pixels in a slot that is the client's once this is sent.
    case slot(Sidelight_V1_FilteredFrame, SessionRing.Output)
    /// Without pixels of its own.
    case bare(Sidelight_V1_FilteredFrame)
  }

  /// Complete but for the timing.
  let content: Content
  /// Complete but for its total.
  var timing: Sidelight_V1_FrameTiming
  /// When the frame arrived, on the session's clock.
  let received: Duration
  /// Covers its whole way.
  let span: FrameSpan

  /// The message, with its timing.
  ///
  /// - Parameter deposits: Where large ones are left until they are written.
  func message(
    leavingAt deposits: OutboundMessageStore.CallMessages?
  ) -> OutgoingMessage<Sidelight_V1_ServerMessage> {
    switch self.content {
    case .picture(let envelope):
      envelope.setTiming(self.timing)
      return .envelope(envelope, deposits)
    case .bare(var frame), .slot(var frame, _):
      frame.timing = self.timing
      return .message(.with { $0.frame = frame })
    }
  }
}
