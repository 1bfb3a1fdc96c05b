import DequeModule
import Synchronization

/// A bounded queue of ended spans for the exporter. Counts the spans that it drops when it is full.
package final class SpanQueue: Sendable {
  /// The counts of a queue.
  package struct Counts: Sendable, Hashable {
    /// The number of dropped spans.
    package var dropped: UInt64 = 0
    /// The number of waiting spans.
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
  ///   - capacity: The maximum number of waiting spans.
  ///   - batchSize: The number of spans per batch. When so many wait, the exporter wakes up.
  package init(capacity: Int, batchSize: Int) {
    self.capacity = capacity
    self.batchSize = min(batchSize, capacity)
    (self.wakeUps, self.wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.state.withLock { $0.spans.reserveCapacity(capacity) }
  }

  /// The counts.
  package var counts: Counts {
    self.state.withLock { Counts(dropped: $0.dropped, waiting: $0.spans.count) }
  }

  /// Adds an ended span, or drops and counts it if the queue is full.
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

  /// Returns the next batch, oldest spans first. `nil` if the queue is empty.
  package func takeBatch() -> [FinishedSpan]? {
    self.state.withLock { state in
      guard !state.spans.isEmpty else { return nil }
      let batch = Array(state.spans.prefix(self.batchSize))
      state.spans.removeFirst(batch.count)
      return batch
    }
  }

  /// Wakes the exporter.
  package func wakeExporter() {
    self.wakeUp.yield()
  }

  /// Ends ``waitForWakeUps(_:)``.
  package func finish() {
    self.wakeUp.finish()
  }

  /// Calls `body` on every wake-up, until ``finish()`` or cancellation of the task.
  package func waitForWakeUps(_ body: () async -> Void) async {
    for await _ in self.wakeUps { await body() }
  }
}
