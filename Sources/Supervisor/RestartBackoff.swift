/// The delay before a worker that ended is restarted: none, unless it ends repeatedly.
///
/// A run of at least ``minUptime`` resets the delay. After the first short run the worker is
/// restarted at once; after the second the delay is ``initialDelay``, which doubles with each
/// further one up to ``maxDelay``.
public struct RestartBackoff: Sendable, Hashable {
  /// - `minUptime` (duration, default: 10 s): the minimum time of service after which an end does
  ///   not count as part of a crash loop.
  public var minUptime: Duration
  /// - `initialDelay` (duration, default: 100 ms): the delay after two consecutive short runs.
  public var initialDelay: Duration
  /// - `maxDelay` (duration, default: 10 s): the longest delay.
  public var maxDelay: Duration
  /// The number of consecutive short runs.
  private var shortRuns = 0

  /// - Parameters:
  ///   - goodLife: The minimum time of service after which an end does not count as part of a crash
  ///     loop.
  ///   - initialDelay: The delay after two consecutive short runs.
  ///   - maxDelay: The longest delay.
  public init(
    minUptime: Duration = .seconds(10), initialDelay: Duration = .milliseconds(100),
    maxDelay: Duration = .seconds(10)
  ) {
    self.minUptime = minUptime
    self.initialDelay = initialDelay
    self.maxDelay = maxDelay
  }

  /// Records the end of a worker.
  ///
  /// - Parameter life: The time for which it served; zero if it never did.
  /// - Returns: The delay before its restart.
  package mutating func delay(after life: Duration) -> Duration {
    guard life < self.minUptime else {
      self.shortRuns = 0
      return .zero
    }
    self.shortRuns += 1
    guard self.shortRuns > 1 else { return .zero }
    // More doublings would exceed any maximum, and finally overflow.
    let doublings = min(self.shortRuns - 2, 30)
    return min(self.maxDelay, self.initialDelay * (1 << doublings))
  }
}
