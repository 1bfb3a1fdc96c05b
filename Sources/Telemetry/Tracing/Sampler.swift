/// The rule by which traces are sampled.
public indirect enum Sampler: Sendable, Hashable {
  /// All traces.
  case always
  /// No traces.
  case never
  /// A fraction of traces (0 to 1), selected by trace ID so that all services decide alike: those
  /// whose last 64 bits are below `ratio * 2^64`, as in the SDKs for Go and Python. OpenTelemetry
  /// does not specify the formula. A larger ratio samples a superset.
  case ratio(Double)
  /// The decision of the parent; without a parent, that of `root`.
  case parentBased(root: Sampler)

  /// Returns whether a span of the trace is sampled.
  ///
  /// - Parameter parent: The parent of the span. `nil` if it has none.
  public func samples(_ trace: TraceID, parent: SpanContext?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .ratio(let ratio): ratio >= 1 || trace.low < UInt64(max(0, ratio) * 0x1p64)
    case .parentBased(let root): parent?.isSampled ?? root.samples(trace, parent: nil)
    }
  }
}
