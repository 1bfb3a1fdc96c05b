package import NIOCore

/// How often a connection may do something: a burst at once, and so many a second for ever.
package struct RateBudget: Sendable {
  private let perSecond: Double
  private let burst: Double
  private var left: Double
  private var last: NIODeadline

  package init(perSecond: Double, burst: Int, at now: NIODeadline) {
    self.perSecond = perSecond
    self.burst = Double(burst)
    self.left = Double(burst)
    self.last = now
  }

  /// - Returns: Whether there is one left; then it is gone.
  package mutating func take(at now: NIODeadline) -> Bool {
    let elapsed = Double((now - self.last).nanoseconds) / 1e9
    self.last = now
    self.left = min(self.burst, self.left + elapsed * self.perSecond)
    guard self.left >= 1 else { return false }
    self.left -= 1
    return true
  }
}
