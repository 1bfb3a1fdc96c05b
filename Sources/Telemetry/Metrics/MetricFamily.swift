/// All series of one name.
struct MetricFamily {
  /// The type of a metric in Prometheus.
  enum Kind: String {
    case counter
    case gauge
    case histogram
  }

  let kind: Kind
  /// The numbers, by labels.
  var values: [MetricLabels: MetricValue] = [:]
  /// The histograms, by labels.
  var histograms: [MetricLabels: MetricHistogram] = [:]

  var count: Int { self.values.count + self.histograms.count }

  /// Writes the series in Prometheus' text format
  /// (https://prometheus.io/docs/instrumenting/exposition_formats/).
  func write(to text: inout String, name: String, help: String) {
    text += "# HELP \(name) \(help.escaped(quotes: false))\n# TYPE \(name) \(self.kind.rawValue)\n"
    for (labels, value) in self.values.sorted(by: { $0.key.text < $1.key.text }) {
      text += "\(name)\(labels.braced) \(value.value.metricText)\n"
    }
    for (labels, histogram) in self.histograms.sorted(by: { $0.key.text < $1.key.text }) {
      let state = histogram.current
      var count: UInt64 = 0
      for (bound, inBucket) in zip(histogram.bounds + [.infinity], state.counts) {
        count += inBucket
        text += "\(name)_bucket\(labels.braced(with: "le", bound.metricText)) \(count)\n"
      }
      text += "\(name)_sum\(labels.braced) \(state.sum.metricText)\n"
      text += "\(name)_count\(labels.braced) \(count)\n"
    }
  }
}

extension Double {
  /// The number in Prometheus' text format.
  fileprivate var metricText: String {
    if self.isNaN { return "NaN" }
    if self.isInfinite { return self < 0 ? "-Inf" : "+Inf" }
    if let integer = Int64(exactly: self) { return "\(integer)" }
    return "\(self)"
  }
}
