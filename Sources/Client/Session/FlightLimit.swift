/// Limits the frames in flight to as many as shorten the wait for the next picture. More frames
/// only wait on the way, and delay the frames and pings behind them.
///
/// After TCP Vegas (Brakmo, Peterson, 1995), with frames instead of bytes. The time on the way is
/// the time from sending a frame until its picture arrives, less the time that the server had it.
/// With `limit` frames in flight, `limit * (1 - shortest time / time)` of them wait on the way.
/// More than one lowers the limit; less than a half, or a wait of less than 5 ms, raises it, up to
/// the server's grant.
package struct FlightLimit: Sendable {
  /// The change per picture.
  private static let step = 0.25
  /// The longest wait on the way that doesn't lower the limit.
  private static let tolerance = Duration.milliseconds(5)
  /// The time after which a shortest time is forgotten, because the path may have changed.
  private static let memory = Duration.seconds(10)

  private let capacity: Double
  private var limit: Double
  /// The shortest time of the last 10 to 20 s, in two halves.
  private var shortest: (older: Duration?, newer: Duration?, since: Duration?)

  /// - Parameter capacity: The number of frames that the server grants, at least 1.
  package init(capacity: Int) {
    self.capacity = Double(max(1, capacity))
    self.limit = self.capacity
  }

  /// The number of frames that may be in flight, at least 1.
  package var frames: Int { Int(self.limit) }

  /// Records the time that a frame and its picture were on the way.
  ///
  /// - Parameters:
  ///   - time: The time without the server's.
  ///   - now: The time of arrival.
  package mutating func record(_ time: Duration, at now: Duration) {
    let time = max(time, .microseconds(1))
    if let since = self.shortest.since, now - since < Self.memory {
      self.shortest.newer = min(self.shortest.newer ?? time, time)
    } else {
      self.shortest = (older: self.shortest.newer, newer: time, since: now)
    }
    let base = min(self.shortest.newer ?? time, self.shortest.older ?? time)
    let waiting = time - base < Self.tolerance ? 0 : self.limit * (1 - base / time)
    if waiting > 1 {
      self.limit = max(1, self.limit - Self.step)
    } else if waiting < 0.5 {
      self.limit = min(self.capacity, self.limit + Self.step)
    }
  }
}
