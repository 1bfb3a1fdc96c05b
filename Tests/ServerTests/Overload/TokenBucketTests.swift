import SidelightServer
import SidelightTestSupport
import Testing

/// Tests of token buckets and rate limiters.
@Suite struct TokenBucketTests {
  @Test(
    arguments: 1 ... 20)
  func `in any period the amount is at most the rate times that period plus one second`(seed: Int) {
    var dice = SeededRandom(seed: UInt64(seed))
    let perSecond = Double(dice.number(1 ... 200))
    var bucket = TokenBucket(perSecond: perSecond, at: .zero)
    var now = Duration.zero
    var taken: [(at: Duration, amount: Double)] = []
    for _ in 0 ..< 400 {
      now += .milliseconds(dice.number(0 ... 300))
      let amount = Double(dice.number(1 ... 40))
      guard bucket.delay(for: amount, at: now) == .zero else { continue }
      bucket.take(amount)
      taken.append((now, amount))
    }
    #expect(!taken.isEmpty)
    for (first, begin) in taken.enumerated() {
      var sum = 0.0
      for end in taken[first...] {
        sum += end.amount
        let time = (end.at - begin.at) / .seconds(1)
        #expect(sum <= time * perSecond + max(perSecond, 40) + 0.01)
      }
    }
  }

  @Test func `a caller that waits for the stated delay is accepted`() {
    var bucket = TokenBucket(perSecond: 3, at: .zero)
    var now = Duration.zero
    for amount in [1, 1, 1, 1, 2, 7, 1, 0.5] {
      now += bucket.delay(for: amount, at: now)
      #expect(bucket.delay(for: amount, at: now) == .zero)
      bucket.take(amount)
    }
  }

  @Test func `a clock that stops or goes back adds nothing`() {
    var bucket = TokenBucket(perSecond: 2, at: .seconds(10))
    bucket.take(2)
    #expect(bucket.delay(for: 1, at: .seconds(10)) == .milliseconds(500))
    #expect(bucket.delay(for: 1, at: .seconds(5)) == .milliseconds(500))
    #expect(bucket.delay(for: 1, at: .seconds(11)) == .zero)
  }

  @Test func `changed limits apply immediately, also to known callers`() async {
    let limiters = RateLimiter(Quotas(), clock: ManualClock().sessionClock)
    let limiter = limiters.limiter(of: CallerIdentity(caller: "alice"))
    for _ in 0 ..< 100 { #expect(await limiter.takeFrame(of: 1, waiting: false)) }
    limiters.quotas.framesPerSecond = 1
    #expect(await limiter.takeFrame(of: 1, waiting: false))
    #expect(await !limiter.takeFrame(of: 1, waiting: false))
    limiters.quotas.framesPerSecond = nil
    for _ in 0 ..< 100 { #expect(await limiter.takeFrame(of: 1, waiting: false)) }
  }

  @Test func `the limiters of inactive callers are removed`() async throws {
    let clock = ManualClock()
    var quotas = Quotas()
    quotas.framesPerSecond = 1
    let limiters = RateLimiter(quotas, clock: clock.sessionClock)
    let held = limiters.limiter(of: CallerIdentity(caller: "holder", participant: "ana"))
    #expect(await held.takeFrame(of: 1, waiting: false))
    for number in 0 ..< 100_000 {
      let caller = CallerIdentity(
        caller: "caller \(number)", participant: number.isMultiple(of: 2) ? "ana" : "")
      #expect(await limiters.limiter(of: caller).takeFrame(of: 1, waiting: false))
      clock.advance(by: .milliseconds(10))
    }
    #expect(limiters.count < 3000)
    // A participant whose limiter is in use keeps it.
    let again = limiters.limiter(of: CallerIdentity(caller: "holder", participant: "ana"))
    #expect(again === held)
  }

  @Test func `the limiters of participants that a caller invents are limited in number`() async {
    var quotas = Quotas()
    quotas.participant.framesPerSecond = 0.01
    let limiters = RateLimiter(quotas, clock: ManualClock().sessionClock)
    let held = limiters.limiter(of: CallerIdentity(caller: "sfu", participant: "ana"))
    #expect(await held.takeFrame(of: 1, waiting: false))
    // The clock does not advance, so no limiter fills up again.
    for number in 0 ..< 100_000 {
      let invented = CallerIdentity(caller: "sfu", participant: "\(number)")
      #expect(await limiters.limiter(of: invented).takeFrame(of: 1, waiting: false))
    }
    #expect(limiters.count < 40_000)
    let again = limiters.limiter(of: CallerIdentity(caller: "sfu", participant: "ana"))
    #expect(again === held)
  }

  @Test func `a change of the number of sessions does not refill rates`() async {
    var quotas = Quotas()
    quotas.framesPerSecond = 2
    quotas.participant.framesPerSecond = 1
    let limiters = RateLimiter(quotas, clock: ManualClock().sessionClock)
    let ana = limiters.limiter(of: CallerIdentity(caller: "sfu", participant: "ana"))
    #expect(await ana.takeFrame(of: 1, waiting: false))
    limiters.quotas.participant.sessions = 5
    #expect(await !ana.takeFrame(of: 1, waiting: false))
  }

  @Test func `a frame counts for a participant and its caller, or for neither`() async {
    var quotas = Quotas()
    quotas.framesPerSecond = 3
    quotas.participant.framesPerSecond = 2
    let clock = ManualClock()
    let limiters = RateLimiter(quotas, clock: clock.sessionClock)
    let (ana, ben, caller) = (
      limiters.limiter(of: CallerIdentity(caller: "sfu", participant: "ana")),
      limiters.limiter(of: CallerIdentity(caller: "sfu", participant: "ben")),
      limiters.limiter(of: CallerIdentity(caller: "sfu"))
    )
    func accepted(_ limiter: CallerRateLimiter) async -> Bool {
      await limiter.takeFrame(of: 1, waiting: false)
    }
    #expect(await [accepted(ana), accepted(ana), accepted(ana)] == [true, true, false])
    // The refused frame did not count against the caller's limit: one is left.
    #expect(await [accepted(ben), accepted(ben)] == [true, false])
    #expect(await !accepted(caller))
    // Participants of the same name of another caller are others.
    let other = limiters.limiter(of: CallerIdentity(caller: "other", participant: "ana"))
    #expect(await accepted(other))
    // The frame that the caller's limit refused did not count against the participant's limit,
    // which would otherwise have two thirds of a frame now.
    clock.advance(by: .milliseconds(334))
    #expect(await accepted(ben))
  }

  @Test func `a bucket without a rate permits its burst once`() {
    var bucket = TokenBucket(perSecond: 0, burst: 2, at: .zero)
    let permitted = (0 ..< 4).map { second in
      let isPermitted = bucket.permits(1, at: .seconds(second))
      if isPermitted { bucket.take(1) }
      return isPermitted
    }
    #expect(permitted == [true, true, false, false])
  }
}
