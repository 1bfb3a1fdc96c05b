import Synchronization

/// What a plan's frames take, as a moving average; shared by all sessions that run the plan.
package final class CostEstimate: Sendable {
  private let average = Mutex<Duration?>(nil)

  package init() {}

  /// What the next frame is expected to take; `nil` before the first is done.
  package var expected: Duration? { self.average.withLock { $0 } }

  /// A frame took so long. One that took many times what is usual, because somebody's filter stuck or
  /// the machine did, counts for no more than four times as much.
  package func record(_ elapsed: Duration) {
    self.average.withLock { average in
      average = average.map { $0 + (min(elapsed, $0 * 4) - $0) / 8 } ?? elapsed
    }
  }

  /// A frame was given up after so long; in full it would have taken more.
  package func record(atLeast elapsed: Duration) {
    self.average.withLock { $0 = max($0 ?? .zero, elapsed) }
  }

  /// A frame was not computed because it was expected to take too long. The estimate sinks a little,
  /// so that now and then one is tried: else a plan that was slow once would never run again.
  package func recordRefusal() {
    self.average.withLock { average in
      average = average.map { $0 - $0 / 32 }
    }
  }
}
