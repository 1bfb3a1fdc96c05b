/// So much a second for ever, and at once as much as a second brings. What is larger than that passes
/// alone, when a second's worth is there, and is made up for before anything else does.
///
/// So in any time no more is taken than that time and one second bring, or than that time brings and
/// the largest single amount.
package struct TokenBucket: Sendable {
  private let perSecond: Double
  private let capacity: Double
  private var level: Double
  private var last: Duration

  /// - Parameters:
  ///   - perSecond: Finite and greater than 0.
  ///   - now: The time; the bucket is full then.
  package init(perSecond: Double, at now: Duration) {
    self.perSecond = perSecond
    self.capacity = max(1, perSecond)
    self.level = self.capacity
    self.last = now
  }

  /// How long until so much may be taken; zero if it may now.
  package mutating func delay(for amount: Double, at now: Duration) -> Duration {
    self.fill(at: now)
    let missing = min(amount, self.capacity) - self.level
    // Rounding shall not leave a sliver for which somebody waits again and again.
    return missing <= 1e-6 * self.capacity ? .zero : .seconds(missing / self.perSecond)
  }

  /// Takes so much.
  package mutating func take(_ amount: Double) {
    self.level -= amount
  }

  /// Whether a new one would be the same.
  package mutating func isFull(at now: Duration) -> Bool {
    self.fill(at: now)
    return self.level >= self.capacity
  }

  private mutating func fill(at now: Duration) {
    // Those who ask read the clock before they get here, each for himself.
    guard now > self.last else { return }
    self.level = min(self.capacity, self.level + (now - self.last) / .seconds(1) * self.perSecond)
    self.last = now
  }
}
