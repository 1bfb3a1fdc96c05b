import SidelightWire

/// A frame that was made, on its way to the writer.
struct OutgoingFrame: Sendable {
  /// Complete but for its total time.
  var message: Sidelight_V1_FilteredFrame
  /// When the frame arrived, on the session's clock.
  let received: Duration
  /// Covers its whole way.
  let span: FrameSpan
}
