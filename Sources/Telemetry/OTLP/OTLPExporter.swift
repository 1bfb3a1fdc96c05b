import Logging
import Metrics
public import ServiceLifecycle

/// Sends the spans of an ``OTLPTracer`` to a collector, in batches, beside the frames' path.
///
/// A collector that is slow or gone costs spans, which are counted (`sidelight_trace_spans_total`), and
/// nothing else. Graceful shutdown sends what is left, within `flushTimeout`; so whatever makes spans
/// should end before it, which in a `ServiceGroup` means that this service stands first.
public final class OTLPExporter: Service {
  /// What the exporter counts, in words, for ``PrometheusRegistry``.
  public static let descriptions = [
    "sidelight_trace_spans_total":
      "Spans that ended, by what became of them: exported, queue_full, failed or rejected."
  ]

  /// Sends spans, and returns how many were not wanted.
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

  /// Sends spans until graceful shutdown begins or the task is cancelled. A second call sends nothing.
  ///
  /// Never throws, as telemetry must not end the server: certificates that cannot be read cost the
  /// spans, and are told to the log.
  public func run() async {
    let collector: OTLPCollector
    do {
      collector = try OTLPCollector(self.configuration)
    } catch {
      return await self.run { _ in throw error }
    }
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await collector.runConnection() }
      await self.run { try await collector.send($0) }
      collector.close()
      // A call that was given up may hold the connection.
      group.cancelAll()
      while (try? await group.next()) != nil {}
    }
  }

  /// Sends through a function, until graceful shutdown begins or the task is cancelled.
  package func run(_ send: @escaping Send) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while !Task.isCancelled {
          self.queue.wakeExporter()
          try? await Task.sleep(for: self.configuration.scheduleDelay)
        }
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

  /// Sends what waits. A batch that takes too long is given up, and counted.
  private func sendAll(_ send: @escaping Send, _ failures: inout FailureLog) async {
    self.counters.record(dropped: self.queue.counts.dropped)
    while !Task.isCancelled, let batch = self.queue.takeBatch() {
      do {
        let rejected = try await Self.within(self.configuration.exportTimeout) {
          try await send(batch)
        }
        self.counters.record(sent: batch.count, rejected: rejected)
        failures.recover()
      } catch {
        self.counters.record(failed: batch.count)
        failures.note(error)
      }
    }
    self.counters.record(dropped: self.queue.counts.dropped)
  }

  private func flush(_ send: @escaping Send, _ failures: inout FailureLog) async {
    let end = ContinuousClock.now + self.configuration.flushTimeout
    while let batch = self.queue.takeBatch() {
      do {
        let rejected = try await Self.within(max(.zero, end - .now)) { try await send(batch) }
        self.counters.record(sent: batch.count, rejected: rejected)
      } catch {
        self.counters.record(failed: batch.count)
        failures.note(error)
      }
    }
    self.counters.record(dropped: self.queue.counts.dropped)
  }

  private struct TimedOut: Error, CustomStringConvertible {
    let description = "The collector took too long."
  }

  private static func within<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(for: limit)
        throw TimedOut()
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() else { throw CancellationError() }
      return result
    }
  }
}
