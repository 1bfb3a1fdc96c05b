import Synchronization

/// An event that happens once, and that tasks can wait for.
final class Event: Sendable {
  private let happened = Atomic(false)
  private let stream: AsyncStream<Never>
  private let continuation: AsyncStream<Never>.Continuation

  init() {
    (self.stream, self.continuation) = AsyncStream.makeStream()
  }

  var hasHappened: Bool { self.happened.load(ordering: .sequentiallyConsistent) }

  func happen() {
    self.happened.store(true, ordering: .sequentiallyConsistent)
    self.continuation.finish()
  }

  /// Returns when it has happened, or the task is cancelled. One task may wait at a time.
  func wait() async {
    for await _ in self.stream {}
  }
}
