/// Why a frame ended without being made.
package enum DropReason: Sendable, Hashable, CaseIterable {
  /// A newer frame took its place in the mailbox.
  case superseded
  /// The mailbox was full, and others had the better claim.
  case queueFull
  /// On arrival its budget could not hold the work that is expected.
  case lateOnArrival
  /// Its budget was spent, or could no longer hold the work, before or between the passes.
  case lateInPipeline
  /// Its budget was spent before it was written.
  case lateOnOutput
  /// More frames were without outcome than were granted.
  case noCredit
  /// The session's frame rate was exceeded.
  case rateLimited
  /// The session is paused.
  case paused
  /// The frame could not be read.
  case invalidFrame
  /// A stage failed, and the policy is to drop.
  case stageFailed
  /// The server is shutting down.
  case draining
  /// The output waited to be written, and a newer one took its place.
  case outputSuperseded
}

/// Where a frame was when it was dropped.
package enum DropStage: Sendable, Hashable {
  /// Being read.
  case arrival
  /// Waiting for the lane.
  case mailbox
  /// Being filtered.
  case pipeline
  /// Waiting to be written.
  case outbox
}
