import SidelightKernels
import SidelightWire

/// A frame that arrived and was found sound, on its way to the lane.
struct IncomingFrame: Sendable {
  /// Its place in the order of arrival.
  let arrival: UInt64
  /// As it came.
  let message: Sidelight_V1_Frame
  /// The selection in force when it arrived.
  let selection: Selection
  /// What that comes to for the frame's geometry; `nil` if the frame is to come back as it is.
  let program: Program?
  /// When it arrived, on the session's clock.
  let received: Duration
  /// When it is of no use any more; `nil`: never.
  let deadline: Duration?
  /// Covers its whole way.
  let span: FrameSpan

  /// What it may claim in the mailbox.
  var standing: MailboxStanding {
    MailboxStanding(priority: self.message.priority, mustStay: self.message.mustProcess)
  }
}
