import SidelightTelemetry
import Synchronization

/// Takes spans as a collector does, and may hold the sender until it is released.
final class RecordingCollector: Sendable {
  struct Unavailable: Error {}

  private let batches = Mutex<[[String]]>([])
  private let arrivals: AsyncStream<Int>
  private let arrival: AsyncStream<Int>.Continuation
  private let answer: @Sendable (Int) throws -> Int

  /// - Parameter answer: How many of a batch are not wanted, by the number of the call.
  init(answer: @escaping @Sendable (Int) throws -> Int = { _ in 0 }) {
    self.answer = answer
    (self.arrivals, self.arrival) = AsyncStream.makeStream()
  }

  /// The names of the spans, by batch.
  var names: [[String]] { self.batches.withLock { $0 } }

  func take(_ spans: [FinishedSpan]) throws -> Int {
    let number = self.batches.withLock { batches in
      batches.append(spans.map(\.name))
      return batches.count
    }
    defer { self.arrival.yield(number) }
    return try self.answer(number)
  }

  /// Waits until so many batches have come.
  func waitForBatches(_ count: Int) async {
    for await number in self.arrivals where number >= count { return }
  }
}
