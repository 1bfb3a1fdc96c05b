/// Which traces are recorded.
public indirect enum Sampler: Sendable, Hashable {
  /// All.
  case always
  /// None.
  case never
  /// This part of them (0 to 1), by their names, so that all who see a trace decide alike: those whose
  /// last 64 bits are below `ratio * 2^64`, as the SDKs of Go and Python have it. OpenTelemetry leaves
  /// the formula open; whoever samples more records all that others do.
  case ratio(Double)
  /// As the parent was; where there is none, as the sampler says.
  case parentBased(root: Sampler)

  /// Whether a span of the trace is recorded.
  ///
  /// - Parameter parent: The span's parent, if it has one.
  public func samples(_ trace: TraceID, parent: SpanContext?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .ratio(let ratio): ratio >= 1 || trace.low < UInt64(max(0, ratio) * 0x1p64)
    case .parentBased(let root): parent?.isSampled ?? root.samples(trace, parent: nil)
    }
  }
}
