import SidelightClient
import Testing

/// All transitions of the reconnector. Time and chance are the test's.
@Suite struct ReconnectorTests {
  typealias Action = Reconnector.Action
  typealias Attempt = Reconnector.Attempt

  static func policy(
    giveUpAfter: Duration? = nil, maxAttempts: Int? = nil
  ) -> ReconnectPolicy {
    ReconnectPolicy(
      initialDelay: .milliseconds(100), maxDelay: .seconds(1), giveUpAfter: giveUpAfter,
      maxAttempts: maxAttempts)
  }

  /// A session that was open for ten seconds when it is lost for the first time.
  static func connected(
    _ policy: ReconnectPolicy? = policy(), addressCount: Int = 1
  ) -> Reconnector {
    var reconnector = Reconnector(policy: policy, addressCount: addressCount)
    reconnector.open(at: .zero, after: .milliseconds(100))
    return reconnector
  }

  static func delay(_ action: Action) -> Duration? {
    if case .retry(_, let delay) = action { delay } else { nil }
  }

  @Test func `the longest wait doubles up to its limit, and the wait is the random part of it`() {
    for (random, expected) in [
      (1.0, [100, 200, 400, 800, 1000, 1000]), (0.25, [25, 50, 100, 200, 250, 250]),
      (0, [0, 0, 0, 0, 0, 0]),
    ] {
      var reconnector = Self.connected()
      let delays = (0 ..< 6).map { _ in
        Self.delay(reconnector.lose(.transient, at: .seconds(10), random: { random }))
      }
      #expect(delays == expected.map { .milliseconds($0) })
    }
  }

  @Test func `delays stay at their limit however many attempts there are`() {
    var reconnector = Self.connected()
    for _ in 0 ..< 200 { _ = reconnector.lose(.transient, at: .seconds(10), random: { 1 }) }
    #expect(
      Self.delay(reconnector.lose(.transient, at: .seconds(10), random: { 1 })) == .seconds(1))
  }

  @Test
  func `a connection that stays open ends the series; one that is lost at once belongs to it`() {
    var reconnector = Self.connected()
    _ = reconnector.lose(.transient, at: .seconds(10), random: { 1 })
    _ = reconnector.lose(.transient, at: .seconds(11), random: { 1 })
    reconnector.open(at: .seconds(12), after: .milliseconds(100))
    let flapping = reconnector.lose(.transient, at: .seconds(12.5), random: { 1 })
    #expect(Self.delay(flapping) == .milliseconds(400))
    reconnector.open(at: .seconds(13), after: .milliseconds(100))
    let lasting = reconnector.lose(.transient, at: .seconds(14), random: { 1 })
    #expect(
      lasting
        == .retry(Attempt(number: 1, address: 0, usesToken: true), after: .milliseconds(100)))
  }

  @Test func `attempts follow each other at once while the network is silent`() {
    var reconnector = Self.connected()
    for number in 1 ... Reconnector.silentAttempts {
      let action = reconnector.lose(.silent, at: .seconds(10), random: { 1 })
      let attempt = Attempt(
        number: number, address: 0, usesToken: true, timeout: .milliseconds(400))
      #expect(action == .retry(attempt, after: .milliseconds(100)))
    }
    // Later ones have more time, for a server that has become slow.
    _ = reconnector.lose(.silent, at: .seconds(10), random: { 1 })
    #expect(reconnector.attempt.timeout == nil)
    let later = reconnector.lose(.silent, at: .seconds(10), random: { 1 })
    #expect(Self.delay(later) == .milliseconds(200))
  }

  @Test func `a server that refuses connections is not asked more often`() {
    var reconnector = Self.connected()
    _ = reconnector.lose(.silent, at: .seconds(10), random: { 1 })
    let refused = reconnector.lose(.transient, at: .seconds(10), random: { 1 })
    #expect(Self.delay(refused) == .milliseconds(200))
    #expect(reconnector.attempt.timeout == nil)
  }

  @Test func `each attempt goes to the next address`() {
    var reconnector = Self.connected(addressCount: 3)
    let attempts = (0 ..< 4).map { _ in
      _ = reconnector.lose(.transient, at: .seconds(10), random: { 0 })
      return reconnector.attempt.address
    }
    #expect(attempts == [1, 2, 0, 1])
  }

  @Test
  func
    `a token that is refused is given up at once, at the same address, until there is a new one`()
  {
    var reconnector = Self.connected(addressCount: 2)
    _ = reconnector.lose(.transient, at: .seconds(10), random: { 1 })
    let retry = Attempt(number: 1, address: 1, usesToken: false)
    #expect(
      reconnector.lose(.precondition, at: .seconds(10), random: { 1 })
        == .retry(retry, after: .zero)
    )
    #expect(reconnector.attempt == retry)
    var refusedAgain = reconnector
    #expect(refusedAgain.lose(.precondition, at: .seconds(10), random: { 1 }) == .end)
    reconnector.open(at: .seconds(11), after: .milliseconds(100))
    _ = reconnector.lose(.transient, at: .seconds(20), random: { 1 })
    #expect(reconnector.attempt.usesToken)
  }

  @Test func `a session that breaks the rules in mid-stream is over`() {
    var reconnector = Self.connected()
    #expect(reconnector.lose(.precondition, at: .seconds(10), random: { 1 }) == .end)
  }

  @Test func `a server that is full is asked again when it says, and others are asked meanwhile`() {
    var alone = Self.connected()
    let full = LinkFailure.exhausted(retryAfter: .seconds(3))
    #expect(
      Self.delay(alone.lose(full, at: .seconds(10), random: { 0.5 })) == .milliseconds(3050))
    var fleet = Self.connected(addressCount: 2)
    #expect(
      fleet.lose(full, at: .seconds(10), random: { 0.5 })
        == .retry(Attempt(number: 1, address: 1, usesToken: true), after: .milliseconds(50)))
    // The other is full too: back to the first, of whose three seconds two are left.
    #expect(
      fleet.lose(full, at: .seconds(11), random: { 0.5 })
        == .retry(Attempt(number: 2, address: 0, usesToken: true), after: .milliseconds(2100)))
  }

  @Test func `after the limit of time, counted from the loss, no further attempt is made`() {
    var reconnector = Self.connected(Self.policy(giveUpAfter: .seconds(5)))
    #expect(reconnector.lose(.transient, at: .seconds(10), random: { 1 }) != .end)
    #expect(reconnector.lose(.transient, at: .seconds(14.9), random: { 1 }) != .end)
    #expect(reconnector.lose(.transient, at: .seconds(15), random: { 1 }) == .end)
  }

  @Test func `after the limit of attempts no further one is made`() {
    var reconnector = Self.connected(Self.policy(maxAttempts: 2))
    let actions = (0 ..< 3).map { _ in
      reconnector.lose(.transient, at: .seconds(10), random: { 1 })
    }
    #expect(actions.map { $0 == .end } == [false, false, true])
  }

  @Test func `a permanent error ends the session, and without a policy every error does`() {
    var reconnector = Self.connected()
    #expect(reconnector.lose(.permanent, at: .seconds(10), random: { 1 }) == .end)
    for failure in [LinkFailure.transient, .exhausted(retryAfter: .zero), .precondition] {
      var plain = Self.connected(nil)
      #expect(plain.lose(failure, at: .seconds(10), random: { 1 }) == .end)
    }
  }
}
