import Metrics
import Synchronization

/// How often values fell below each of some bounds.
final class MetricHistogram: RecorderHandler, TimerHandler {
  struct State {
    /// By bucket, not summed up; the last is for what is above all bounds.
    var counts: [UInt64]
    var sum = 0.0
  }

  /// Upper bounds of the buckets, rising.
  let bounds: [Double]
  private let state: Mutex<State>

  init(bounds: [Double]) {
    self.bounds = bounds
    self.state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  var current: State { self.state.withLock { $0 } }

  func record(_ value: Int64) { self.record(Double(value)) }

  func record(_ value: Double) {
    // Almost all values are small, and there are few bounds.
    let index = self.bounds.firstIndex { value <= $0 } ?? self.bounds.count
    self.state.withLock { state in
      state.counts[index] += 1
      state.sum += value
    }
  }

  func recordNanoseconds(_ duration: Int64) { self.record(Double(duration) / 1e9) }
}
