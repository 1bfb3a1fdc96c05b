import Metrics
import SidelightTelemetry
import Testing

/// Tests of Prometheus' text format, and of the limit on series.
@Suite struct PrometheusRegistryTests {
  @Test func `counters, gauges and histograms have Prometheus' text format`() {
    let registry = PrometheusRegistry(descriptions: ["frames_total": "Frames \\ by\noutcome."])
    Counter(label: "frames_total", dimensions: [("outcome", "filtered")], factory: registry)
      .increment(by: 3)
    Counter(label: "frames_total", dimensions: [("outcome", "a\"b\\c\nd")], factory: registry)
      .increment()
    Gauge(label: "load", factory: registry).record(0.5)
    let timer = Timer(label: "pass_seconds", dimensions: [("pass", "x")], factory: registry)
    timer.recordMilliseconds(1)
    timer.recordMilliseconds(1.5)
    timer.recordSeconds(60)
    let lines = registry.text.split(separator: "\n").map(String.init)
    #expect(
      lines.filter { $0.hasPrefix("frames") || $0.hasPrefix("# ") && $0.contains("frames") } == [
        "# HELP frames_total Frames \\\\ by\\noutcome.", "# TYPE frames_total counter",
        "frames_total{outcome=\"a\\\"b\\\\c\\nd\"} 1", "frames_total{outcome=\"filtered\"} 3",
      ])
    #expect(lines.contains("load 0.5"))
    #expect(lines.contains("pass_seconds_bucket{pass=\"x\",le=\"0.001\"} 1"))
    #expect(lines.contains("pass_seconds_bucket{pass=\"x\",le=\"0.002\"} 2"))
    #expect(lines.contains("pass_seconds_bucket{pass=\"x\",le=\"10\"} 2"))
    #expect(lines.contains("pass_seconds_bucket{pass=\"x\",le=\"+Inf\"} 3"))
    #expect(lines.contains("pass_seconds_sum{pass=\"x\"} 60.0025"))
    #expect(lines.contains("pass_seconds_count{pass=\"x\"} 3"))
    #expect(registry.text.hasSuffix("\n"))
  }

  @Test func `series beyond the limit of a name share one series and are counted`() {
    let registry = PrometheusRegistry(seriesLimit: 3)
    for caller in 0 ..< 10 {
      Counter(label: "calls_total", dimensions: [("caller", "\(caller)")], factory: registry)
        .increment(by: 2)
    }
    // A known caller keeps its own series.
    Counter(label: "calls_total", dimensions: [("caller", "0")], factory: registry).increment()
    let lines = registry.text.split(separator: "\n").map(String.init)
    #expect(
      lines.filter { $0.hasPrefix("calls_total") } == [
        "calls_total{caller=\"0\"} 3", "calls_total{caller=\"1\"} 2",
        "calls_total{caller=\"2\"} 2", "calls_total{caller=\"other\"} 14",
      ])
    #expect(lines.contains("sidelight_metrics_overflow_total{name=\"calls_total\"} 7"))
  }

  @Test func `names become valid for Prometheus; counters end in _total`() {
    let registry = PrometheusRegistry()
    Counter(label: "hb.requests", dimensions: [("http.route", "/x")], factory: registry).increment()
    Meter(label: "1st-of/all", factory: registry).set(2)
    #expect(registry.text.contains("hb_requests_total{http_route=\"/x\"} 1\n"))
    #expect(registry.text.contains("_1st_of_all 2\n"))
  }

  @Test func `a name has one type: series of another type are not exported`() {
    let registry = PrometheusRegistry()
    Gauge(label: "x", factory: registry).record(1)
    Timer(label: "x", factory: registry).recordSeconds(1)
    #expect(registry.text.contains("# TYPE x gauge\nx 1\n"))
    #expect(!registry.text.contains("x_bucket"))
  }

  @Test func `a destroyed metric is not exported`() {
    let registry = PrometheusRegistry()
    let counter = Counter(label: "x_total", factory: registry)
    counter.increment()
    counter.destroy()
    #expect(!registry.text.contains("x_total 1"))
  }

  #if os(Linux)
    @Test func `process metrics have the standard names`() throws {
      let lines = PrometheusRegistry().text.split(separator: "\n").map(String.init)
      for (name, range) in [
        ("process_resident_memory_bytes", 1e6 ... 1e12), ("process_open_fds", 3.0 ... 1e6),
        ("process_cpu_seconds_total", 0.001 ... 1e9),
        ("process_start_time_seconds", 1.6e9 ... 1e11),
      ] {
        let line = try #require(lines.first { $0.hasPrefix(name + " ") })
        let value = try #require(Double(line.dropFirst(name.count + 1)))
        #expect(range.contains(value), "\(line)")
      }
    }
  #endif

  @Test func `concurrent increments are all counted`() async {
    let registry = PrometheusRegistry()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0 ..< 8 {
        group.addTask {
          for _ in 0 ..< 1000 {
            Counter(label: "x_total", factory: registry).increment()
            Timer(label: "y_seconds", factory: registry).recordSeconds(1)
          }
        }
      }
    }
    #expect(registry.text.contains("x_total 8000\n"))
    #expect(registry.text.contains("y_seconds_count 8000\n"))
  }
}
