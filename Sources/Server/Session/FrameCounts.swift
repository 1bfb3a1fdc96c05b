/// The counts of one session. Once no frame is in flight,
/// `received == filtered + passedThrough + degraded + dropped of every reason`.
package struct FrameCounts: Sendable, Hashable {
  /// Frames that arrived.
  package var received: UInt64 = 0
  /// Frames that the pipeline made.
  package var filtered: UInt64 = 0
  /// Frames that came back unchanged.
  package var passedThrough: UInt64 = 0
  /// Frames that a cheaper variant made.
  package var degraded: UInt64 = 0
  /// Frames that were not made.
  package var dropped: [DropReason: UInt64] = [:]
  /// Bytes of pixels received.
  package var bytesIn: UInt64 = 0
  /// Bytes of pixels sent.
  package var bytesOut: UInt64 = 0
  /// Messages of kinds that this build does not know.
  package var ignoredMessages: UInt64 = 0

  package init() {}

  /// Frames that have no outcome yet.
  package var inFlight: UInt64 {
    self.received - self.filtered - self.passedThrough - self.degraded
      - self.dropped.values.reduce(0, +)
  }

  /// Only the frames that have their outcome.
  package var decided: FrameCounts {
    var decided = self
    decided.received -= self.inFlight
    return decided
  }

  /// Adds those of another session.
  package mutating func add(_ other: FrameCounts) {
    self.received += other.received
    self.filtered += other.filtered
    self.passedThrough += other.passedThrough
    self.degraded += other.degraded
    self.dropped.merge(other.dropped, uniquingKeysWith: +)
    self.bytesIn += other.bytesIn
    self.bytesOut += other.bytesOut
    self.ignoredMessages += other.ignoredMessages
  }
}
