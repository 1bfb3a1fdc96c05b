import AsyncAlgorithms
import SidelightWire

extension SessionClock {
  /// Returns a sequence with an element at the end of every interval. Ends when the task is
  /// cancelled.
  func ticks(every interval: Duration) -> AsyncTimerSequence<TimerClock> {
    AsyncTimerSequence(interval: interval, clock: TimerClock(clock: self))
  }

  /// The session's clock, for timers of swift-async-algorithms.
  struct TimerClock: Clock {
    struct Instant: InstantProtocol {
      /// The time since the clock's fixed moment.
      var time: Duration

      func advanced(by duration: Duration) -> Instant { Instant(time: self.time + duration) }

      func duration(to other: Instant) -> Duration { other.time - self.time }

      static func < (one: Instant, other: Instant) -> Bool { one.time < other.time }
    }

    let clock: SessionClock

    var now: Instant { Instant(time: self.clock.now()) }

    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
      await self.clock.wait(deadline.time - self.clock.now())
      try Task.checkCancellation()
    }
  }
}
