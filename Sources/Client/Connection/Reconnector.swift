/// Decides whether, when, where and with what a session whose connection is lost is opened again. A
/// pure state machine; time and chance are handed in.
///
/// Life: opening -> open -> waiting -> opening ... -> over. Waits are random between zero and a
/// ceiling that doubles from attempt to attempt ("full jitter", AWS Architecture Blog, 2015).
package struct Reconnector: Sendable {
  /// How to go on.
  package enum Action: Sendable, Hashable {
    /// Another attempt.
    case retry(Attempt, after: Duration)
    /// None.
    case end
  }

  /// An attempt to open.
  package struct Attempt: Sendable, Hashable {
    /// Its place in the series that began with the loss of a connection that stood, from 1; 0 for a
    /// session's first.
    package var number: Int
    /// Which of the addresses.
    package var address: Int
    /// Whether a resume token is presented, if there is one.
    package var usesToken: Bool

    package init(number: Int, address: Int, usesToken: Bool) {
      self.number = number
      self.address = address
      self.usesToken = usesToken
    }
  }

  private let policy: ReconnectPolicy?
  /// When each address may be asked again.
  private var openFrom: [Duration]
  /// The last attempt that was decided.
  package private(set) var attempt = Attempt(number: 0, address: 0, usesToken: true)
  /// When the connection that stands was opened.
  private var opened: Duration?
  /// When the series of attempts began.
  private var lost: Duration?

  /// - Parameters:
  ///   - policy: `nil`: the first loss is the end.
  ///   - addressCount: At least 1.
  package init(policy: ReconnectPolicy?, addressCount: Int) {
    self.policy = policy
    self.openFrom = Array(repeating: .zero, count: addressCount)
  }

  /// An attempt succeeded.
  package mutating func open(at now: Duration) {
    self.opened = now
    self.attempt.usesToken = true
  }

  /// The connection is lost, or an attempt failed.
  ///
  /// - Parameters:
  ///   - failure: How.
  ///   - now: The time.
  ///   - random: Uniform in 0 ..< 1.
  package mutating func lose(
    _ failure: LinkFailure, at now: Duration, random: () -> Double
  ) -> Action {
    guard let policy else { return .end }
    let opened = self.opened.take()
    // One that is lost as soon as it is there belongs to the series before it.
    if let opened, now - opened >= policy.maxDelay || self.lost == nil {
      self.attempt.number = 0
      self.lost = nil
    }
    switch failure {
    case .permanent: return .end
    case .precondition:
      guard opened == nil, self.attempt.usesToken else { return .end }
      self.attempt.usesToken = false
      return .retry(self.attempt, after: .zero)
    case .exhausted(let delay): self.openFrom[self.attempt.address] = now + delay
    case .transient: break
    }
    let lost = self.lost ?? now
    self.lost = lost
    if let limit = policy.giveUpAfter, now - lost >= limit { return .end }
    if let limit = policy.maxAttempts, self.attempt.number >= limit { return .end }
    let ceiling = self.ceiling(policy)
    self.attempt.number += 1
    self.attempt.address = (self.attempt.address + 1) % self.openFrom.count
    let reserve = max(.zero, self.openFrom[self.attempt.address] - now)
    return .retry(self.attempt, after: reserve + ceiling * random())
  }

  private func ceiling(_ policy: ReconnectPolicy) -> Duration {
    // Doubled 32 times, a millisecond is 50 days.
    let doubled = policy.initialDelay * (1 << min(self.attempt.number, 32))
    return min(policy.maxDelay, doubled)
  }
}
