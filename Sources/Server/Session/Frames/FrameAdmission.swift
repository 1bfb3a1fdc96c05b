/// Thins frames out to a rate, evenly: 30 frames a second at a limit of 20 lose every third.
///
/// Keeps a schedule of one frame an interval, rather than a gap since the last frame, so that jitter
/// does not cost frames. A frame may be a quarter of an interval early.
package struct FrameDecimator: Sendable {
  private let interval: Duration
  private var due: Duration?

  /// - Parameter framesPerSecond: Finite and greater than 0.
  package init(framesPerSecond: Double) {
    self.interval = .seconds(1 / framesPerSecond)
  }

  /// Whether a frame that arrives now is within the rate.
  package mutating func admits(at now: Duration) -> Bool {
    guard let due else {
      self.due = now + self.interval
      return true
    }
    guard now >= due - self.interval / 4 else { return false }
    // After a gap the schedule starts anew, or the gap would be made up for in a burst.
    self.due = (now - due > self.interval ? now : due) + self.interval
    return true
  }
}
