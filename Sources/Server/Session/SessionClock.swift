import Tracing

/// Where sessions read the time, so that tests can move it.
package struct SessionClock: Sendable {
  /// Time since some fixed moment; never goes back.
  package var now: @Sendable () -> Duration
  /// Nanoseconds since 1970.
  package var nanosecondsSince1970: @Sendable () -> UInt64
  /// Returns after the given time, or when the task is cancelled.
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
      wait: { try? await Task.sleep(for: $0) })
  }()
}

extension Duration {
  /// Whole microseconds, as the wire counts time; 0 for negative durations.
  var wireMicroseconds: UInt32 {
    let (seconds, attoseconds) = self.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (microseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    guard !isOverflow else { return .max }
    return UInt32(clamping: microseconds &+ attoseconds / 1_000_000_000_000)
  }
}
