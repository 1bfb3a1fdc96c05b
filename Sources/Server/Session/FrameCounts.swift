/// The counts of one session. Once no frame is in flight,
/// `received == filtered + passedThrough + degraded + dropped of every reason`.
struct FrameCounts: Sendable, Hashable {
  /// Frames that arrived.
  var received: UInt64 = 0
  /// Frames that the pipeline made.
  var filtered: UInt64 = 0
  /// Frames that came back unchanged.
  var passedThrough: UInt64 = 0
  /// Frames that a cheaper variant made.
  var degraded: UInt64 = 0
  /// Frames that were not made.
  var dropped: [DropReason: UInt64] = [:]
  /// Bytes of pixels received.
  var bytesIn: UInt64 = 0
  /// Bytes of pixels sent.
  var bytesOut: UInt64 = 0
  /// Messages of kinds that this build does not know.
  var ignoredMessages: UInt64 = 0

  /// Frames that have no outcome yet.
  var inFlight: UInt64 {
    self.received - self.filtered - self.passedThrough - self.degraded
      - self.dropped.values.reduce(0, +)
  }
}
