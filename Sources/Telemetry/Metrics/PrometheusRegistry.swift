public import Metrics
import Synchronization

/// A registry of metrics that formats them for Prometheus.
///
/// Timers become histograms in seconds, aggregating recorders histograms, other recorders gauges.
/// The number of series per name is limited: further label sets are recorded as `other` and counted
/// in `sidelight_metrics_overflow_total`. This bounds the memory, and sums stay correct.
public final class PrometheusRegistry: Sendable {
  /// The upper bounds of timers' buckets, in seconds: 0.5 ms to 10 s, including about the intervals
  /// of frames at 60 and 30 fps.
  public static let durationBounds = [
    0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.033, 0.066, 0.133, 0.25, 0.5, 1, 2.5, 10,
  ]
  /// The upper bounds of recorders' buckets: powers of four.
  public static let valueBounds = (0 ..< 12).map { Double(1 << (2 * $0)) }

  private struct State {
    var families: [String: MetricFamily] = [:]
    var overflows: [String: MetricValue] = [:]
  }

  private static let overflowName = "sidelight_metrics_overflow_total"

  private let descriptions: [String: String]
  private let seriesLimit: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - descriptions: The help texts of metrics, by name.
  ///   - seriesLimit: The maximum number of series per name.
  public init(descriptions: [String: String] = [:], seriesLimit: Int = 200) {
    self.descriptions = descriptions
    self.seriesLimit = seriesLimit
  }

  /// The current metrics in Prometheus' text format, version 0.0.4.
  public var text: String {
    let state = self.state.withLock { $0 }
    var text = ""
    for (name, family) in state.families.sorted(by: { $0.key < $1.key }) {
      family.write(to: &text, name: name, help: self.descriptions[name] ?? "No description.")
    }
    if !state.overflows.isEmpty {
      var family = MetricFamily(kind: .counter)
      for (name, value) in state.overflows {
        family.values[MetricLabels([("name", name)])] = value
      }
      family.write(
        to: &text, name: Self.overflowName,
        help: "Label sets beyond the limit per name, recorded as \"other\".")
    }
    ProcessStatistics.current?.write(to: &text)
    return text
  }

  private func value(
    _ kind: MetricFamily.Kind, _ label: String, _ dimensions: [(String, String)]
  ) -> MetricValue {
    self.series(kind, label, dimensions, in: \.values) { MetricValue() }
  }

  private func histogram(
    _ label: String, _ dimensions: [(String, String)], bounds: [Double]
  ) -> MetricHistogram {
    self.series(.histogram, label, dimensions, in: \.histograms) {
      MetricHistogram(bounds: bounds)
    }
  }

  /// Returns the series with a name and labels, and creates it if necessary.
  private func series<Series: Sendable>(
    _ kind: MetricFamily.Kind, _ label: String, _ dimensions: [(String, String)],
    in all: WritableKeyPath<MetricFamily, [MetricLabels: Series]>, make: () -> Series
  ) -> Series {
    var name = label.metricName(allowsColon: true)
    if kind == .counter, !name.hasSuffix("_total") { name += "_total" }
    return self.state.withLock { state in
      var family = state.families[name] ?? MetricFamily(kind: kind)
      // A name has one type; a series of another type is recorded but not exported.
      guard family.kind == kind else { return make() }
      var labels = MetricLabels(dimensions)
      if let known = family[keyPath: all][labels] { return known }
      if family.count >= self.seriesLimit {
        let overflow = state.overflows[name] ?? MetricValue()
        overflow.increment(by: 1.0)
        state.overflows[name] = overflow
        labels = MetricLabels(dimensions.map { ($0.0, "other") })
        if let known = family[keyPath: all][labels] { return known }
      }
      let new = make()
      family[keyPath: all][labels] = new
      state.families[name] = family
      return new
    }
  }

  private func destroy(_ handler: AnyObject) {
    self.state.withLock { state in
      for (name, var family) in state.families {
        let count = family.count
        family.values = family.values.filter { $0.value !== handler }
        family.histograms = family.histograms.filter { $0.value !== handler }
        if family.count < count { state.families[name] = family }
      }
    }
  }
}

extension PrometheusRegistry: MetricsFactory {
  /// Creates a counter. Appends `_total` to its name if necessary.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    self.value(.counter, label, dimensions)
  }

  /// Creates a counter. Appends `_total` to its name if necessary.
  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    self.value(.counter, label, dimensions)
  }

  /// Creates a gauge.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    self.value(.gauge, label, dimensions)
  }

  /// Creates a histogram with ``valueBounds`` if it aggregates, else a gauge.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    aggregate
      ? self.histogram(label, dimensions, bounds: Self.valueBounds)
      : self.value(.gauge, label, dimensions)
  }

  /// Creates a histogram in seconds, with ``durationBounds``.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    self.histogram(label, dimensions, bounds: Self.durationBounds)
  }

  /// Removes the counter.
  public func destroyCounter(_ handler: any CounterHandler) { self.destroy(handler) }

  /// Removes the counter.
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
    self.destroy(handler)
  }

  /// Removes the gauge.
  public func destroyMeter(_ handler: any MeterHandler) { self.destroy(handler) }

  /// Removes the histogram or gauge.
  public func destroyRecorder(_ handler: any RecorderHandler) { self.destroy(handler) }

  /// Removes the histogram.
  public func destroyTimer(_ handler: any TimerHandler) { self.destroy(handler) }
}
