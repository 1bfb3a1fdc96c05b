/// A token bucket with a rate per second and a burst. An amount larger than the burst passes when
/// the bucket is full, and leaves a debt that is filled first.
///
/// In any period the amounts are at most the rate over that period plus the burst or the largest
/// single amount.
package struct TokenBucket: Sendable {
  private var perSecond: Double
  private var capacity: Double
  private var level: Double
  private var last: Duration

  /// - Parameters:
  ///   - perSecond: Finite, at least 0.
  ///   - burst: The amount of a full bucket. `nil` is the amount of one second.
  ///   - now: The time; the bucket is full then.
  package init(perSecond: Double, burst: Double? = nil, at now: Duration) {
    self.perSecond = perSecond
    self.capacity = max(1, burst ?? perSecond)
    self.level = self.capacity
    self.last = now
  }

  /// Returns the time until an amount may be taken, or zero if it may now.
  ///
  /// - Precondition: The rate is greater than 0.
  package mutating func delay(for amount: Double, at now: Duration) -> Duration {
    let missing = self.missing(for: amount, at: now)
    return missing > 0 ? .seconds(missing / self.perSecond) : .zero
  }

  /// Returns whether an amount may be taken.
  package mutating func permits(_ amount: Double, at now: Duration) -> Bool {
    self.missing(for: amount, at: now) == 0
  }

  private mutating func missing(for amount: Double, at now: Duration) -> Double {
    self.fill(at: now)
    let missing = min(amount, self.capacity) - self.level
    // A rounding error must not make a caller wait repeatedly.
    return missing <= 1e-6 * self.capacity ? 0 : missing
  }

  package mutating func take(_ amount: Double) {
    self.level -= amount
  }

  /// Changes the rate, and the burst to the amount of one second. The amount in the bucket stays,
  /// unless it has room for less.
  package mutating func change(perSecond: Double, at now: Duration) {
    self.fill(at: now)
    self.perSecond = perSecond
    self.capacity = max(1, perSecond)
    self.level = min(self.level, self.capacity)
  }

  package mutating func isFull(at now: Duration) -> Bool {
    self.fill(at: now)
    return self.level >= self.capacity
  }

  private mutating func fill(at now: Duration) {
    // Concurrent callers read the clock before they get here, so it can seem to go back.
    guard now > self.last else { return }
    self.level = min(self.capacity, self.level + (now - self.last) / .seconds(1) * self.perSecond)
    self.last = now
  }
}
