/// Why a frame ended without being made.
package enum DropReason: Sendable, Hashable, CaseIterable {
  /// A newer frame took its place in the mailbox.
  case superseded
  /// The mailbox was full, and the policy keeps the oldest.
  case queueFull
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
