import Metrics
import Synchronization

/// A histogram with fixed bucket bounds.
final class MetricHistogram: RecorderHandler, TimerHandler {
  struct State {
    /// The counts by bucket, not cumulative. The last bucket has no bound.
    var counts: [UInt64]
    var sum = 0.0
  }

  /// The upper bounds of the buckets, ascending.
  let bounds: [Double]
  private let state: Mutex<State>

  init(bounds: [Double]) {
    self.bounds = bounds
    self.state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  var current: State { self.state.withLock { $0 } }

  func record(_ value: Int64) { self.record(Double(value)) }

  func record(_ value: Double) {
    // A linear search is fast: most values are small, and there are few bounds.
    let index = self.bounds.firstIndex { value <= $0 } ?? self.bounds.count
    self.state.withLock { state in
      state.counts[index] += 1
      state.sum += value
    }
  }

  func recordNanoseconds(_ duration: Int64) { self.record(Double(duration) / 1e9) }
}
