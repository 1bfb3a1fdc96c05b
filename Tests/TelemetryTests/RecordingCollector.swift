import SidelightTelemetry
import Synchronization

/// A collector that records the names of received spans.
final class RecordingCollector: Sendable {
  struct Unavailable: Error {}

  private let batches = Mutex<[[String]]>([])
  private let arrivals: AsyncStream<Int>
  private let arrival: AsyncStream<Int>.Continuation
  private let answer: @Sendable (Int) throws -> Int

  /// - Parameter answer: Returns the number of rejected spans for the number of the call, from 1.
  init(answer: @escaping @Sendable (Int) throws -> Int = { _ in 0 }) {
    self.answer = answer
    (self.arrivals, self.arrival) = AsyncStream.makeStream()
  }

  /// The names of the spans, by batch.
  var names: [[String]] { self.batches.withLock { $0 } }

  /// Receives a batch, and returns the number of rejected spans.
  func receive(_ spans: [FinishedSpan]) throws -> Int {
    let number = self.batches.withLock { batches in
      batches.append(spans.map(\.name))
      return batches.count
    }
    defer { self.arrival.yield(number) }
    return try self.answer(number)
  }

  /// Waits until `count` batches have been received.
  func waitForBatches(_ count: Int) async {
    for await number in self.arrivals where number >= count { return }
  }
}
