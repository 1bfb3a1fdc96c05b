import Synchronization

/// Tells what work costs one thread, where several share it: the time that passes, and what bands did
/// beside each other meanwhile.
public final class WorkMeter: Sendable {
  private let now: @Sendable () -> Duration
  private let nanoseconds = Atomic<Int64>(0)

  /// - Parameter now: The clock on which time is taken.
  public init(now: @escaping @Sendable () -> Duration) {
    self.now = now
  }

  /// The work that was done beyond the time that passed: 0 where no bands ran beside each other. Less
  /// where a band was waited for and nobody worked.
  public var beyondElapsed: Duration {
    .nanoseconds(self.nanoseconds.load(ordering: .acquiring))
  }

  /// A band's work, on its own thread.
  func band(_ work: () -> Void) {
    let start = self.now()
    work()
    self.add(self.now() - start)
  }

  /// The time from the first band's begin to the last one's end, which passes for everybody.
  func bands(_ work: () async -> Void) async {
    let start = self.now()
    await work()
    self.add(start - self.now())
  }

  private func add(_ duration: Duration) {
    self.nanoseconds.add(Int64(duration / .nanoseconds(1)), ordering: .acquiringAndReleasing)
  }
}
