import SidelightKernels
import Synchronization

/// What a server did in each of the last seconds.
final class StatusHistory: Sendable {
  private struct State {
    var seconds: [ServerStatus.Second] = []
    var made: UInt64 = 0
    var dropped: UInt64 = 0
  }

  private static let limit = 120

  private let state = Mutex(State())

  /// The oldest first.
  var seconds: [ServerStatus.Second] { self.state.withLock { $0.seconds } }

  /// A second is over.
  func note(_ frames: FrameCounts, _ durations: DurationHistogram, load: Double) {
    let made = frames.filtered + frames.passedThrough + frames.degraded
    let dropped = frames.dropped.values.reduce(0, +)
    self.state.withLock { state in
      if state.seconds.count == Self.limit { state.seconds.removeFirst() }
      state.seconds.append(
        ServerStatus.Second(
          made: made - min(made, state.made), dropped: dropped - min(dropped, state.dropped),
          median: durations.percentile(50).map { $0 / .milliseconds(1) },
          p99: durations.percentile(99).map { $0 / .milliseconds(1) }, load: load))
      (state.made, state.dropped) = (made, dropped)
    }
  }
}
