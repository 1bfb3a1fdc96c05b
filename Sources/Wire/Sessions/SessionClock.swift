import Tracing

/// The clock of sessions, at the server and on the client. Tests supply their own.
package struct SessionClock: Sendable {
  /// Returns the time since a fixed moment. Monotonic.
  package var now: @Sendable () -> Duration
  /// Returns the nanoseconds since 1970.
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

  package static let system: SessionClock = {
    let start = ContinuousClock.now
    return SessionClock(
      now: { start.duration(to: .now) },
      nanosecondsSince1970: { DefaultTracerClock.now.nanosecondsSinceEpoch },
      // The only error is the cancellation of the task, which ends the wait early as documented.
      wait: { try? await Task.sleep(for: $0) })
  }()
}
