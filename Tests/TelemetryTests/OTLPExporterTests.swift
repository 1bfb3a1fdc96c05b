import Logging
import Metrics
import ServiceLifecycle
import ServiceLifecycleTestKit
import SidelightTelemetry
import Testing
import Tracing

/// The exporter's batches, and what becomes of spans when the collector fails.
@Suite(.timeLimit(.minutes(5))) struct OTLPExporterTests {
  /// A tracer and its exporter, over a queue of 8 and batches of 4; nothing is sent for time alone.
  struct Bench {
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

  @Test("Spans left when the server shuts down are sent, in batches, the oldest first")
  func flush() async {
    let bench = Bench()
    let collector = RecordingCollector()
    await testGracefulShutdown { trigger in
      bench.end(1 ... 6)
      trigger.triggerGracefulShutdown()
      await bench.tracing.exporter.run { try collector.take($0) }
    }
    #expect(collector.names.flatMap(\.self) == ["1", "2", "3", "4", "5", "6"])
    #expect(collector.names.allSatisfy { $0.count <= 4 })
    #expect(bench.count("exported") == "6")
  }

  @Test("A full batch is sent without waiting for company")
  func fullBatch() async {
    let bench = Bench()
    let collector = RecordingCollector()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await bench.tracing.exporter.run { try collector.take($0) } }
      // The exporter looks once when it begins; whatever it found then, a whole batch comes now.
      bench.end(1 ... 8)
      await collector.waitForBatches(2)
      group.cancelAll()
    }
    #expect(collector.names.flatMap(\.self) == (1 ... 8).map(String.init))
  }

  @Test("Spans that find no room are dropped and counted, without waiting")
  func overflow() async {
    let bench = Bench()
    let collector = RecordingCollector()
    bench.end(1 ... 20)
    await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      await bench.tracing.exporter.run { try collector.take($0) }
    }
    #expect(collector.names.flatMap(\.self) == (1 ... 8).map(String.init))
    #expect(bench.count("queue_full") == "12")
    #expect(bench.count("exported") == "8")
  }

  @Test("A batch that fails is counted, and the next is sent all the same")
  func failure() async {
    let bench = Bench()
    let collector = RecordingCollector { number in
      if number == 1 { throw RecordingCollector.Unavailable() }
      return 0
    }
    bench.end(1 ... 8)
    await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      await bench.tracing.exporter.run { try collector.take($0) }
    }
    #expect(collector.names.count == 2)
    #expect(bench.count("failed") == "4")
    #expect(bench.count("exported") == "4")
  }

  @Test("Spans that the collector does not want are counted", arguments: [1, 4, 1000, -5])
  func rejection(count: Int) async {
    let bench = Bench()
    let collector = RecordingCollector { _ in count }
    bench.end(1 ... 4)
    await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      await bench.tracing.exporter.run { try collector.take($0) }
    }
    #expect(bench.count("rejected") == "\(min(4, max(0, count)))")
    #expect(bench.count("exported") == "\(4 - min(4, max(0, count)))")
  }

  @Test("A collector that never answers does not hold up the end")
  func stuck() async {
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

  @Test(
    "Without a collector the service ends on request, and the spans are counted as lost")
  func nobody() async {
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
