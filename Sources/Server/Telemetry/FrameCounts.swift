package import SidelightWire

/// The counts of one session's frames. Once no frame is in flight,
/// `received == filtered + passedThrough + degraded + the sum of dropped`.
package struct FrameCounts: Sendable, Hashable {
  /// The number of frames received.
  package var received: UInt64 = 0
  /// The number of frames filtered in full by the pipeline.
  package var filtered: UInt64 = 0
  /// The number of frames returned unchanged.
  package var passedThrough: UInt64 = 0
  /// The number of frames filtered by a cheaper variant of the pipeline.
  package var degraded: UInt64 = 0
  /// The number of dropped frames, by reason.
  package var dropped: [DropReason: UInt64] = [:]
  /// The number of bytes of pixels received.
  package var bytesIn: UInt64 = 0
  /// The number of bytes of pixels sent.
  package var bytesOut: UInt64 = 0
  /// The number of messages of unknown kinds.
  package var ignoredMessages: UInt64 = 0

  package init() {}

  /// The number of frames without an outcome.
  package var inFlight: UInt64 { self.received - self.delivered - self.allDropped }

  /// The number of frames returned.
  var delivered: UInt64 { self.filtered + self.passedThrough + self.degraded }

  /// The number of dropped frames, for all reasons.
  var allDropped: UInt64 { self.dropped.values.reduce(0, +) }

  /// The counts without the frames in flight.
  package var decided: FrameCounts {
    var decided = self
    decided.received -= self.inFlight
    return decided
  }

  func count(of disposition: FrameDisposition) -> UInt64 {
    switch disposition {
    case .filtered: self.filtered
    case .passedThrough: self.passedThrough
    case .degraded: self.degraded
    }
  }

  mutating func add(_ count: Int, to disposition: FrameDisposition) {
    switch disposition {
    case .filtered: self.filtered = UInt64(Int(self.filtered) + count)
    case .passedThrough: self.passedThrough = UInt64(Int(self.passedThrough) + count)
    case .degraded: self.degraded = UInt64(Int(self.degraded) + count)
    }
  }

  /// Adds the counts of another session.
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

// MARK: Messages
