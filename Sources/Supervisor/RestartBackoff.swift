/// How long to wait before a worker that ended is started anew: not at all, unless it ends again and again.
///
/// A life of at least ``goodLife`` forgets what was before. The first short life is answered at once too;
/// after the second the delay is ``initialDelay``, and it doubles with each further one up to ``maxDelay``.
public struct RestartBackoff: Sendable, Hashable {
  /// - `goodLife` (duration, default: 10 s): how long a worker has to serve for its end to be no part of a
  ///   crash loop.
  public var goodLife: Duration
  /// - `initialDelay` (duration, default: 100 ms): the delay after two short lives in a row.
  public var initialDelay: Duration
  /// - `maxDelay` (duration, default: 10 s): the longest delay.
  public var maxDelay: Duration
  /// Short lives in a row up to now.
  private var shortLives = 0

  /// - Parameters:
  ///   - goodLife: How long a worker has to serve for its end to be no part of a crash loop.
  ///   - initialDelay: The delay after two short lives in a row.
  ///   - maxDelay: The longest delay.
  public init(
    goodLife: Duration = .seconds(10), initialDelay: Duration = .milliseconds(100),
    maxDelay: Duration = .seconds(10)
  ) {
    self.goodLife = goodLife
    self.initialDelay = initialDelay
    self.maxDelay = maxDelay
  }

  /// A worker has ended.
  ///
  /// - Parameter life: How long it served; zero if it never came to that.
  /// - Returns: How long to wait until it is started anew.
  package mutating func delay(after life: Duration) -> Duration {
    guard life < self.goodLife else {
      self.shortLives = 0
      return .zero
    }
    self.shortLives += 1
    guard self.shortLives > 1 else { return .zero }
    // Further doublings would pass any cap, and overflow some day.
    let doublings = min(self.shortLives - 2, 30)
    return min(self.maxDelay, self.initialDelay * (1 << doublings))
  }
}
