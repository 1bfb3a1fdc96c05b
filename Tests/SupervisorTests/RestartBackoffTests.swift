import SidelightSupervisor
import Testing

@Suite struct RestartBackoffTests {
  static let short = Duration.seconds(1)
  static let long = Duration.seconds(10)

  @Test func `the restart after the first short run has no delay`() {
    var backoff = RestartBackoff()
    #expect(backoff.delay(after: .zero) == .zero)
  }

  @Test func `the delay doubles with each further short run, up to the maximum`() {
    var backoff = RestartBackoff(
      minUptime: Self.long, initialDelay: .milliseconds(100), maxDelay: .seconds(1))
    let delays = (0 ..< 8).map { _ in backoff.delay(after: Self.short) }
    #expect(delays == [0, 100, 200, 400, 800, 1000, 1000, 1000].map { .milliseconds($0) })
  }

  @Test func `a long run resets the delay`() {
    var backoff = RestartBackoff(minUptime: Self.long)
    for _ in 0 ..< 5 { _ = backoff.delay(after: Self.short) }
    #expect(backoff.delay(after: Self.long) == .zero)
    #expect(backoff.delay(after: Self.short) == .zero)
    #expect(backoff.delay(after: Self.short) == backoff.initialDelay)
  }

  @Test func `a run below the minimum uptime is short`() {
    var backoff = RestartBackoff(minUptime: Self.long)
    for _ in 0 ..< 2 { _ = backoff.delay(after: Self.long - .nanoseconds(1)) }
    #expect(backoff.delay(after: Self.long - .nanoseconds(1)) == backoff.initialDelay * 2)
  }

  @Test func `a long crash loop keeps the maximum delay`() {
    var backoff = RestartBackoff()
    for _ in 0 ..< 1000 { _ = backoff.delay(after: .zero) }
    #expect(backoff.delay(after: .zero) == backoff.maxDelay)
  }
}
