import AsyncAlgorithms
import Tracing

/// The clock of sessions. Tests supply a manual one.
package struct SessionClock: Sendable {
  /// Returns the time since a fixed instant. Monotonic.
  package var now: @Sendable () -> Duration
  /// Returns the nanoseconds since 1970.
  package var nanosecondsSince1970: @Sendable () -> UInt64
  /// Returns after the given time, or early when the task is cancelled.
  package var wait: @Sendable (Duration) async -> Void

  package init(
    now: @escaping @Sendable () -> Duration,
    nanosecondsSince1970: @escaping @Sendable () -> UInt64,
    wait: @escaping @Sendable (Duration) async -> Void
  ) {
    self.now = now
    self.nanosecondsSince1970 = nanosecondsSince1970
    self.wait = wait
  }

  /// The system's clocks.
  package static let system: SessionClock = {
    let start = ContinuousClock.now
    return SessionClock(
      now: { start.duration(to: .now) },
      nanosecondsSince1970: { DefaultTracerClock.now.nanosecondsSinceEpoch },
      wait: { duration in
        // A sleep throws only when its task is cancelled, and `wait` then returns early. Callers
        // check for cancellation, because most of them end without an error.
        try? await Task.sleep(for: duration)
      })
  }()
}

extension SessionClock {
  /// Returns a sequence with an element at the end of each interval. Ends when the task is
  /// cancelled.
  func ticks(every interval: Duration) -> AsyncTimerSequence<TimerClock> {
    AsyncTimerSequence(interval: interval, clock: TimerClock(clock: self))
  }

  /// The session's clock, for timers of swift-async-algorithms.
  struct TimerClock: Clock {
    struct Instant: InstantProtocol {
      /// The time since the clock's fixed instant.
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

extension Duration {
  /// The duration in whole microseconds, as the wire counts time; 0 for negative durations.
  var wireMicroseconds: UInt32 {
    let (seconds, attoseconds) = self.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (microseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    guard !isOverflow else { return .max }
    return UInt32(clamping: microseconds &+ attoseconds / 1_000_000_000_000)
  }
}
