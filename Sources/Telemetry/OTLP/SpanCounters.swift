import Metrics
import Synchronization

/// The counters of spans by outcome.
final class SpanCounters: Sendable {
  private let exported: Counter
  private let rejected: Counter
  private let failed: Counter
  private let queueFull: Counter
  private let droppedBefore = Mutex<UInt64>(0)

  init(factory: any MetricsFactory) {
    func counter(_ outcome: String) -> Counter {
      Counter(
        label: "sidelight_trace_spans_total", dimensions: [("outcome", outcome)], factory: factory)
    }
    self.exported = counter("exported")
    self.rejected = counter("rejected")
    self.failed = counter("failed")
    self.queueFull = counter("queue_full")
  }

  func record(sent count: Int, rejected: Int) {
    // A collector may report any number.
    let rejected = min(max(0, rejected), count)
    self.exported.increment(by: count - rejected)
    self.rejected.increment(by: rejected)
  }

  func record(failed count: Int) {
    self.failed.increment(by: count)
  }

  /// Records the number of spans that were dropped because the queue was full.
  ///
  /// - Parameter total: The number since the start.
  func record(dropped total: UInt64) {
    let new = self.droppedBefore.withLock { before in
      defer { before = max(before, total) }
      return max(before, total) - before
    }
    self.queueFull.increment(by: new)
  }
}
