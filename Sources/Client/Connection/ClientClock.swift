import Tracing

/// Where sessions read the time, so that tests can move it.
package struct ClientClock: Sendable {
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
  package static let system: ClientClock = {
    let start = ContinuousClock.now
    return ClientClock(
      now: { start.duration(to: .now) },
      nanosecondsSince1970: { DefaultTracerClock.now.nanosecondsSinceEpoch },
      wait: { try? await Task.sleep(for: $0) })
  }()
}
