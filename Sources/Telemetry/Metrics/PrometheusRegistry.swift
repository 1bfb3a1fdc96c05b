import Synchronization

/// Keeps metrics, and writes them as Prometheus reads them.
///
/// Timers become histograms in seconds, recorders that aggregate histograms, others gauges. A name has
/// a bounded number of series: what comes beyond is kept under labels that say `other`, and counted in
/// `sidelight_metrics_overflow_total`. So no caller can fill the memory, and sums stay right.
public final class PrometheusRegistry: Sendable {
  /// Upper bounds of the buckets of timers, in seconds: half a millisecond to ten seconds, with about the
  /// times between frames at 60 and 30 a second among them.
  public static let durationBounds = [
    0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.033, 0.066, 0.133, 0.25, 0.5, 1, 2.5, 10,
  ]
  /// Upper bounds of the buckets of recorders: powers of four.
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
  ///   - descriptions: What metrics mean, by name.
  ///   - seriesLimit: Series that a name may have.
  public init(descriptions: [String: String] = [:], seriesLimit: Int = 200) {
    self.descriptions = descriptions
    self.seriesLimit = seriesLimit
  }

  /// All that is known now, in Prometheus' text format, version 0.0.4.
  public var text: String {
    let state = self.state.withLock { $0 }
    var text = ""
    for (name, family) in state.families.sorted(by: { $0.key < $1.key }) {
      family.write(to: &text, name: name, help: self.descriptions[name] ?? "Not described.")
    }
    if !state.overflows.isEmpty {
      var family = MetricFamily(kind: .counter)
      for (name, value) in state.overflows {
        family.values[MetricLabels([("name", name)])] = value
      }
      family.write(
        to: &text, name: Self.overflowName,
        help: "Label sets that came beyond the limit of a name, and are kept as \"other\".")
    }
    ProcessFigures.current?.write(to: &text)
    return text
  }

  // MARK: For the factory

  func value(
    _ kind: MetricFamily.Kind, _ label: String, _ dimensions: [(String, String)]
  ) -> MetricValue {
    self.series(kind, label, dimensions, in: \.values) { MetricValue() }
  }

  func histogram(
    _ label: String, _ dimensions: [(String, String)], bounds: [Double]
  ) -> MetricHistogram {
    self.series(.histogram, label, dimensions, in: \.histograms) {
      MetricHistogram(bounds: bounds)
    }
  }

  /// The series of that name and those labels, made if there is none yet.
  private func series<Series: Sendable>(
    _ kind: MetricFamily.Kind, _ label: String, _ dimensions: [(String, String)],
    in all: WritableKeyPath<MetricFamily, [MetricLabels: Series]>, make: () -> Series
  ) -> Series {
    var name = label.metricName(allowsColon: true)
    if kind == .counter, !name.hasSuffix("_total") { name += "_total" }
    return self.state.withLock { state in
      var family = state.families[name] ?? MetricFamily(kind: kind)
      // One name has one type; what comes as another is kept, and shown nowhere.
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

  func destroy(_ handler: AnyObject) {
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
