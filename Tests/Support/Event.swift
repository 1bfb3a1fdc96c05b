import Synchronization

/// An event that happens once, and that tasks can wait for.
package final class Event: Sendable {
  private let happened = Atomic(false)
  private let stream: AsyncStream<Never>
  private let continuation: AsyncStream<Never>.Continuation

  /// Creates an event that has not happened.
  package init() {
    (self.stream, self.continuation) = AsyncStream.makeStream()
  }

  /// Whether it has happened.
  package var hasHappened: Bool { self.happened.load(ordering: .sequentiallyConsistent) }

  /// Records the event, and resumes the task that waits for it.
  package func happen() {
    self.happened.store(true, ordering: .sequentiallyConsistent)
    self.continuation.finish()
  }

  /// Returns when it has happened, or the task is cancelled. Only one task may wait.
  package func wait() async {
    for await _ in self.stream {}
  }
}
