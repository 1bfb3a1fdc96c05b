import Metrics
import Synchronization

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

/// The labels of a series in Prometheus' text format.
struct MetricLabels: Sendable, Hashable {
  /// `name="value",name="value"`; empty without dimensions.
  let text: String

  /// - Parameter dimensions: The names and values. Invalid characters of names become `_`.
  init(_ dimensions: [(String, String)]) {
    self.text = dimensions.map { name, value in
      "\(name.metricName(allowsColon: false))=\"\(value.escaped(quotes: true))\""
    }.joined(separator: ",")
  }

  /// The labels in braces; empty without labels.
  var braced: String { self.text.isEmpty ? "" : "{\(self.text)}" }

  /// Returns the labels in braces, with an additional one.
  func braced(with name: String, _ value: String) -> String {
    self.text.isEmpty ? "{\(name)=\"\(value)\"}" : "{\(self.text),\(name)=\"\(value)\"}"
  }
}

extension String {
  /// Returns a valid name for Prometheus: letters, digits and `_`, not beginning with a digit.
  func metricName(allowsColon: Bool) -> String {
    var name = String(
      self.unicodeScalars.map { scalar in
        switch scalar {
        case "a" ... "z", "A" ... "Z", "0" ... "9", "_": Character(scalar)
        case ":" where allowsColon: ":"
        default: "_"
        }
      })
    if name.first.map({ ("0" ... "9").contains($0) }) ?? true { name = "_" + name }
    return name
  }

  /// Returns the text with backslashes, line breaks and, if requested, quotation marks escaped.
  fileprivate func escaped(quotes: Bool) -> String {
    var text = ""
    for character in self.unicodeScalars {
      switch character {
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\"" where quotes: text += "\\\""
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }
}

/// The number behind a counter or a gauge.
final class MetricValue: CounterHandler, FloatingPointCounterHandler, MeterHandler,
  RecorderHandler
{
  private let bits = Atomic<UInt64>(0)

  var value: Double { Double(bitPattern: self.bits.load(ordering: .relaxed)) }

  func increment(by amount: Int64) { self.add(Double(amount)) }
  func increment(by amount: Double) { self.add(amount) }
  func decrement(by amount: Double) { self.add(-amount) }
  func set(_ value: Int64) { self.set(Double(value)) }
  func set(_ value: Double) { self.bits.store(value.bitPattern, ordering: .relaxed) }
  func record(_ value: Int64) { self.set(Double(value)) }
  func record(_ value: Double) { self.set(value) }
  func reset() { self.set(0.0) }

  private func add(_ amount: Double) {
    var old = self.bits.load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + amount).bitPattern
      let (exchanged, original) = self.bits.weakCompareExchange(
        expected: old, desired: new, ordering: .relaxed)
      if exchanged { return }
      old = original
    }
  }
}

/// A histogram with fixed bucket bounds.
final class MetricHistogram: RecorderHandler, TimerHandler {
  struct State {
    /// The counts by bucket, not cumulative. The last bucket is unbounded.
    var counts: [UInt64]
    var sum = 0.0
  }

  /// The upper bounds of the buckets, ascending.
  let bounds: [Double]
  private let state: Mutex<State>

  init(bounds: [Double]) {
    self.bounds = bounds
    self.state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  var current: State { self.state.withLock { $0 } }

  func record(_ value: Int64) { self.record(Double(value)) }

  func record(_ value: Double) {
    // A linear search is fast: most values are small, and there are few bounds.
    let index = self.bounds.firstIndex { value <= $0 } ?? self.bounds.count
    self.state.withLock { state in
      state.counts[index] += 1
      state.sum += value
    }
  }

  func recordNanoseconds(_ duration: Int64) { self.record(Double(duration) / 1e9) }
}
