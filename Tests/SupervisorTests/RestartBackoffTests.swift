import SidelightSupervisor
import Testing

@Suite struct RestartBackoffTests {
  static let short = Duration.seconds(1)
  static let good = Duration.seconds(10)

  @Test func `the first short life is answered at once`() {
    var backoff = RestartBackoff()
    #expect(backoff.delay(after: .zero) == .zero)
  }

  @Test func `the delay doubles with each further short life, up to its limit`() {
    var backoff = RestartBackoff(
      minUptime: Self.good, initialDelay: .milliseconds(100), maxDelay: .seconds(1))
    let delays = (0 ..< 8).map { _ in backoff.delay(after: Self.short) }
    #expect(delays == [0, 100, 200, 400, 800, 1000, 1000, 1000].map { .milliseconds($0) })
  }

  @Test func `a good life forgets what was before`() {
    var backoff = RestartBackoff(minUptime: Self.good)
    for _ in 0 ..< 5 { _ = backoff.delay(after: Self.short) }
    #expect(backoff.delay(after: Self.good) == .zero)
    #expect(backoff.delay(after: Self.short) == .zero)
    #expect(backoff.delay(after: Self.short) == backoff.initialDelay)
  }

  @Test func `a life that is a little too short is short`() {
    var backoff = RestartBackoff(minUptime: Self.good)
    for _ in 0 ..< 2 { _ = backoff.delay(after: Self.good - .nanoseconds(1)) }
    #expect(backoff.delay(after: Self.good - .nanoseconds(1)) == backoff.initialDelay * 2)
  }

  @Test func `a crash loop that does not end goes on at the limit`() {
    var backoff = RestartBackoff()
    for _ in 0 ..< 1000 { _ = backoff.delay(after: .zero) }
    #expect(backoff.delay(after: .zero) == backoff.maxDelay)
  }
}
