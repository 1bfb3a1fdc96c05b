/// What a session did in the last seconds, for the status page.
struct SessionHistory: Sendable {
  private static let limit = 60

  /// Frames that were made in the last second.
  private(set) var delivered: UInt64 = 0
  /// Frames that were dropped in the last second.
  private(set) var dropped: UInt64 = 0
  /// At the end of each second, in milliseconds, the oldest first; `nil` where no frame was made.
  private(set) var latencies: [Double?] = []
  private var totals: (delivered: UInt64, dropped: UInt64) = (0, 0)

  /// A second is over.
  ///
  /// - Parameters:
  ///   - frames: All of the session's frames.
  ///   - latency: That of the last one, in milliseconds.
  mutating func record(_ frames: FrameCounts, latency: Double) {
    let totals = (delivered: frames.delivered, dropped: frames.allDropped)
    self.delivered = totals.delivered - self.totals.delivered
    self.dropped = totals.dropped - self.totals.dropped
    self.totals = totals
    if self.latencies.count == Self.limit { self.latencies.removeFirst() }
    self.latencies.append(self.delivered > 0 ? latency : nil)
  }
}

extension FrameCounts {
  /// Frames that came back, in whatever way.
  var delivered: UInt64 { self.filtered + self.passedThrough + self.degraded }

  /// Frames that did not.
  var allDropped: UInt64 { self.dropped.values.reduce(0, +) }
}
