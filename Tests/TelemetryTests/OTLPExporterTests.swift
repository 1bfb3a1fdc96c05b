import Logging
import Metrics
import ServiceLifecycle
import ServiceLifecycleTestKit
import SidelightTelemetry
import Testing
import Tracing

/// Tests of the exporter's batches, and of its handling of collector failures.
@Suite(.timeLimit(.minutes(5))) struct OTLPExporterTests {
  /// A tracer and its exporter, with a queue of 8, batches of 4, and no timed export by default.
  struct Fixture {
    let registry = PrometheusRegistry(descriptions: OTLPExporter.descriptions)
    let tracing: OTLPTracing

    init(delay: Duration = .seconds(3600)) {
      var configuration = OTLPConfiguration()
      configuration.maxQueueSize = 8
      configuration.maxBatchSize = 4
      configuration.scheduleDelay = delay
      self.tracing = OTLPTracing(
        configuration, logger: Logger(label: "") { _ in SwiftLogNoOpLogHandler() },
        metrics: self.registry)
    }

    func end(_ names: ClosedRange<Int>) {
      for name in names { self.tracing.tracer.startSpan("\(name)", context: .topLevel).end() }
    }

    func count(_ outcome: String) -> String {
      let line = self.registry.text.split(separator: "\n").first {
        $0.hasPrefix("sidelight_trace_spans_total{outcome=\"\(outcome)\"} ")
      }
      return line.map { String($0.split(separator: " ")[1]) } ?? "none"
    }
  }

  @Test func `a shutdown sends the remaining spans in batches, oldest first`() async {
    let fixture = Fixture()
    let collector = RecordingCollector()
    await testGracefulShutdown { trigger in
      fixture.end(1 ... 6)
      trigger.triggerGracefulShutdown()
      await fixture.tracing.exporter.run { try collector.receive($0) }
    }
    #expect(collector.names.flatMap(\.self) == ["1", "2", "3", "4", "5", "6"])
    #expect(collector.names.allSatisfy { $0.count <= 4 })
    #expect(fixture.count("exported") == "6")
  }

  @Test func `a full batch is sent without delay`() async {
    let fixture = Fixture()
    let collector = RecordingCollector()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await fixture.tracing.exporter.run { try collector.receive($0) } }
      // Even if the exporter has already emptied the queue at its start, a full batch follows.
      fixture.end(1 ... 8)
      await collector.waitForBatches(2)
      group.cancelAll()
    }
    #expect(collector.names.flatMap(\.self) == (1 ... 8).map(String.init))
  }

  @Test func `spans are dropped and counted while the queue is full`() async {
    let fixture = Fixture()
    let collector = RecordingCollector()
    fixture.end(1 ... 20)
    await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      await fixture.tracing.exporter.run { try collector.receive($0) }
    }
    #expect(collector.names.flatMap(\.self) == (1 ... 8).map(String.init))
    #expect(fixture.count("queue_full") == "12")
    #expect(fixture.count("exported") == "8")
  }

  @Test func `a failed batch is counted, and the next one is sent`() async {
    let fixture = Fixture()
    let collector = RecordingCollector { number in
      if number == 1 { throw RecordingCollector.Unavailable() }
      return 0
    }
    fixture.end(1 ... 8)
    await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      await fixture.tracing.exporter.run { try collector.receive($0) }
    }
    #expect(collector.names.count == 2)
    #expect(fixture.count("failed") == "4")
    #expect(fixture.count("exported") == "4")
  }

  @Test(arguments: [1, 4, 1000, -5])
  func `spans that the collector rejects are counted`(count: Int) async {
    let fixture = Fixture()
    let collector = RecordingCollector { _ in count }
    fixture.end(1 ... 4)
    await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      await fixture.tracing.exporter.run { try collector.receive($0) }
    }
    #expect(fixture.count("rejected") == "\(min(4, max(0, count)))")
    #expect(fixture.count("exported") == "\(4 - min(4, max(0, count)))")
  }

  @Test func `a collector that does not answer does not delay the shutdown`() async {
    var configuration = OTLPConfiguration()
    configuration.flushTimeout = .milliseconds(1)
    let registry = PrometheusRegistry()
    let tracing = OTLPTracing(
      configuration, logger: Logger(label: "") { _ in SwiftLogNoOpLogHandler() },
      metrics: registry)
    tracing.tracer.startSpan("lost", context: .topLevel).end()
    await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      await tracing.exporter.run { _ in
        try await Task.sleep(for: .seconds(3600))
        return 0
      }
    }
    #expect(registry.text.contains("sidelight_trace_spans_total{outcome=\"failed\"} 1\n"))
  }

  @Test func `without a collector the service shuts down and counts the spans as failed`() async {
    var configuration = OTLPConfiguration()
    configuration.endpoint = OTLPEndpoint(target: .unix(path: "/nonexistent/collector"))
    configuration.flushTimeout = .milliseconds(1)
    let registry = PrometheusRegistry()
    let tracing = OTLPTracing(
      configuration, logger: Logger(label: "") { _ in SwiftLogNoOpLogHandler() },
      metrics: registry)
    tracing.tracer.startSpan("lost", context: .topLevel).end()
    await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      await tracing.exporter.run()
    }
    #expect(registry.text.contains("sidelight_trace_spans_total{outcome=\"failed\"} 1\n"))
  }
}
