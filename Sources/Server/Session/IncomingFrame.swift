import SidelightKernels
import SidelightWire

/// A frame that arrived and was found sound, on its way to the lane.
struct IncomingFrame: Sendable {
  /// Its place in the order of arrival.
  let arrival: UInt64
  /// As it came.
  let message: Sidelight_V1_Frame
  /// What plans are compiled for.
  let geometry: FrameGeometry
  /// The selection in force when it arrived.
  let selection: Selection
  /// When it arrived, on the session's clock.
  let received: Duration
  /// Covers its whole way.
  let span: FrameSpan
}
