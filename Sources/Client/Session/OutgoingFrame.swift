import SidelightWire
import SwiftProtobuf

/// A frame that was given, until its outcome is known.
struct OutgoingFrame: Sendable {
  let sequence: UInt64
  let frame: VideoFrame
  let trace: Sidelight_V1_TraceContext?
  /// When `send` was called, on the session's clock.
  let given: Duration

  /// Made when the frame leaves, so that displaced frames cost no copy.
  var message: Sidelight_V1_Frame {
    .with {
      $0.sequence = self.sequence
      $0.image = Sidelight_V1_Image(self.frame.picture)
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
