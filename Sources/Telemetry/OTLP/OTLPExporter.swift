import AsyncAlgorithms
public import Logging
public import Metrics
public import ServiceLifecycle
import Synchronization

/// Sends the spans of an ``OTLPTracer`` to a collector in batches, off the path of frames.
///
/// A slow or unreachable collector costs only spans, which are counted
/// (`sidelight_trace_spans_total`). Graceful shutdown sends the remaining spans within
/// `flushTimeout`. Services that create spans should end before this one; list it before them in a
/// `ServiceGroup`.
public final class OTLPExporter: Service {
  /// The help texts of the exporter's metrics, for ``PrometheusRegistry``.
  public static let descriptions = [
    "sidelight_trace_spans_total":
      "Ended spans, by outcome: exported, queue_full, failed or rejected."
  ]

  /// Sends spans, and returns the number that were rejected.
  package typealias Send = @Sendable (_ spans: [FinishedSpan]) async throws -> Int

  private let configuration: OTLPConfiguration
  private let queue: SpanQueue
  private let logger: Logger
  private let counters: SpanCounters

  init(
    _ configuration: OTLPConfiguration, queue: SpanQueue, logger: Logger,
    metrics: any MetricsFactory
  ) {
    self.configuration = configuration
    self.queue = queue
    self.logger = logger
    self.counters = SpanCounters(factory: metrics)
  }

  /// Sends spans until graceful shutdown begins or the task is cancelled. A second call has no
  /// effect.
  ///
  /// Never throws, since telemetry must not end the server: if certificates cannot be read, spans
  /// are dropped and the error is logged.
  public func run() async {
    let collector: OTLPCollector
    do {
      collector = try OTLPCollector(self.configuration)
    } catch {
      return await self.run { _ in throw error }
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        // If the connection fails, so do the calls, whose errors are counted and logged.
        try? await collector.runConnection()
      }
      await self.run { try await collector.send($0) }
      collector.close()
      // An abandoned call may keep the connection open.
      group.cancelAll()
    }
  }

  /// Sends spans using a function until graceful shutdown begins or the task is cancelled.
  package func run(_ send: @escaping Send) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        self.queue.wakeExporter()
        // Ends when the task is cancelled.
        let ticks = AsyncTimerSequence.repeating(every: self.configuration.scheduleDelay)
        for await _ in ticks { self.queue.wakeExporter() }
      }
      var failures = FailureLog(logger: self.logger, endpoint: self.configuration.endpoint)
      await withGracefulShutdownHandler {
        await self.queue.waitForWakeUps { await self.sendAll(send, &failures) }
      } onGracefulShutdown: {
        self.queue.finish()
      }
      group.cancelAll()
      await self.flush(send, &failures)
    }
  }

  /// Sends waiting spans. A batch that takes too long is abandoned and counted.
  private func sendAll(_ send: @escaping Send, _ failures: inout FailureLog) async {
    self.counters.record(dropped: self.queue.counts.dropped)
    while !Task.isCancelled, let batch = self.queue.takeBatch() {
      await self.send(batch, within: self.configuration.exportTimeout, send, &failures)
    }
    self.counters.record(dropped: self.queue.counts.dropped)
  }

  private func flush(_ send: @escaping Send, _ failures: inout FailureLog) async {
    let end = ContinuousClock.now + self.configuration.flushTimeout
    while let batch = self.queue.takeBatch() {
      await self.send(batch, within: max(.zero, end - .now), send, &failures)
    }
    self.counters.record(dropped: self.queue.counts.dropped)
  }

  private func send(
    _ batch: [FinishedSpan], within limit: Duration, _ send: @escaping Send,
    _ failures: inout FailureLog
  ) async {
    do {
      let rejected = try await Self.within(limit) { try await send(batch) }
      self.counters.record(sent: batch.count, rejected: rejected)
      failures.recover()
    } catch {
      self.counters.record(failed: batch.count)
      failures.record(error)
    }
  }

  private struct ExportTimeout: Error, CustomStringConvertible {
    let description = "The collector did not answer in time."
  }

  /// Runs an operation with a time limit.
  ///
  /// - Throws: ``ExportTimeout``, or the error of `body`.
  private static func within<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(for: limit)
        throw ExportTimeout()
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() else { throw CancellationError() }
      return result
    }
  }
}

/// A tracer, and the service that sends its spans.
public struct OTLPTracing: Sendable {
  /// The tracer.
  public let tracer: OTLPTracer
  /// The exporter. Spans are queued, and then dropped, while it does not run.
  public let exporter: OTLPExporter

  /// - Parameters:
  ///   - configuration: The configuration.
  ///   - logger: The logger for failures of the collector.
  ///   - metrics: The metrics that count the outcomes of spans.
  public init(
    _ configuration: OTLPConfiguration, logger: Logger,
    metrics: any MetricsFactory = MetricsSystem.factory
  ) {
    let queue = SpanQueue(
      capacity: max(1, configuration.maxQueueSize), batchSize: max(1, configuration.maxBatchSize))
    self.tracer = OTLPTracer(sampler: configuration.sampler, queue: queue)
    self.exporter = OTLPExporter(configuration, queue: queue, logger: logger, metrics: metrics)
  }
}

/// Logs when sending of spans begins to fail, and when it works again, rather than every batch.
private struct FailureLog {
  let logger: Logger
  let endpoint: OTLPEndpoint
  var isFailing = false

  mutating func record(_ error: any Error) {
    defer { self.isFailing = true }
    self.logger.log(
      level: self.isFailing ? .debug : .warning, "spans cannot be sent and are dropped",
      metadata: ["endpoint": "\(self.endpoint)", "error": "\(error)"])
  }

  mutating func recover() {
    guard self.isFailing else { return }
    self.isFailing = false
    self.logger.notice("spans are sent again", metadata: ["endpoint": "\(self.endpoint)"])
  }
}

/// The counters of spans by outcome.
private final class SpanCounters: Sendable {
  private let exported: Counter
  private let rejected: Counter
  private let failed: Counter
  private let queueFull: Counter
  private let droppedBefore = Mutex<UInt64>(0)

  init(factory: any MetricsFactory) {
    func counter(_ outcome: String) -> Counter {
      Counter(
        label: "sidelight_trace_spans_total", dimensions: [("outcome", outcome)], factory: factory)
    }
    self.exported = counter("exported")
    self.rejected = counter("rejected")
    self.failed = counter("failed")
    self.queueFull = counter("queue_full")
  }

  func record(sent count: Int, rejected: Int) {
    // A collector may report any number.
    let rejected = min(max(0, rejected), count)
    self.exported.increment(by: count - rejected)
    self.rejected.increment(by: rejected)
  }

  func record(failed count: Int) {
    self.failed.increment(by: count)
  }

  /// Records the number of spans that were dropped because the queue was full.
  ///
  /// - Parameter total: The number since the start.
  func record(dropped total: UInt64) {
    let new = self.droppedBefore.withLock { before in
      defer { before = max(before, total) }
      return max(before, total) - before
    }
    self.queueFull.increment(by: new)
  }
}
