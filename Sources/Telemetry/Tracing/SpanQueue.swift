import DequeModule
import Synchronization

/// Spans that have ended and wait for the exporter: bounded, and what finds no room is counted.
package final class SpanQueue: Sendable {
  /// What became of spans.
  package struct Counts: Sendable, Hashable {
    /// Spans that found no room.
    package var dropped: UInt64 = 0
    /// Spans that wait.
    package var waiting = 0
  }

  private struct State {
    var spans: Deque<FinishedSpan> = []
    var dropped: UInt64 = 0
  }

  private let capacity: Int
  private let batchSize: Int
  private let state = Mutex(State())
  private let wakeUps: AsyncStream<Void>
  private let wakeUp: AsyncStream<Void>.Continuation

  /// - Parameters:
  ///   - capacity: Spans that may wait.
  ///   - batchSize: Spans that are sent together; the exporter is woken when so many wait.
  package init(capacity: Int, batchSize: Int) {
    self.capacity = capacity
    self.batchSize = min(batchSize, capacity)
    (self.wakeUps, self.wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.state.withLock { $0.spans.reserveCapacity(capacity) }
  }

  /// What has been counted.
  package var counts: Counts {
    self.state.withLock { Counts(dropped: $0.dropped, waiting: $0.spans.count) }
  }

  /// A span has ended. It is dropped, and counted, if too many wait.
  package func add(_ span: FinishedSpan) {
    let isBatchFull = self.state.withLock { state in
      guard state.spans.count < self.capacity else {
        state.dropped += 1
        return false
      }
      state.spans.append(span)
      return state.spans.count == self.batchSize
    }
    if isBatchFull { self.wakeExporter() }
  }

  /// The next spans to send, the oldest first; `nil` if none waits.
  package func takeBatch() -> [FinishedSpan]? {
    self.state.withLock { state in
      guard !state.spans.isEmpty else { return nil }
      let batch = Array(state.spans.prefix(self.batchSize))
      state.spans.removeFirst(batch.count)
      return batch
    }
  }

  /// Has the exporter look at what waits.
  package func wakeExporter() {
    self.wakeUp.yield()
  }

  /// Nothing is waited for any more; ``waitForWakeUps(_:)`` returns.
  package func finish() {
    self.wakeUp.finish()
  }

  /// Calls `body` whenever the exporter is woken, until ``finish()``, or until the task is cancelled.
  package func waitForWakeUps(_ body: () async -> Void) async {
    for await _ in self.wakeUps { await body() }
  }
}
