/// What of a span travels: whose child a span elsewhere becomes, and whether it is recorded.
public struct SpanContext: Sendable, Hashable {
  /// The trace.
  public let traceID: TraceID
  /// The span within it.
  public let spanID: SpanID
  /// Whether the trace is recorded.
  public let isSampled: Bool
  /// Whether whoever began the trace says that the last 56 bits of its name are random (W3C level 2).
  public let isRandom: Bool
  /// What others carry along (`tracestate`); handed on as it came.
  public let state: String
  /// Whether the span is another process's.
  public let isRemote: Bool

  /// - Parameters:
  ///   - isRandom: Whether the name of the trace is known to be random.
  ///   - state: A `tracestate`, or nothing.
  public init(
    traceID: TraceID, spanID: SpanID, isSampled: Bool, isRandom: Bool = false, state: String = "",
    isRemote: Bool = false
  ) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
    self.isRandom = isRandom
    self.state = state
    self.isRemote = isRemote
  }

  /// The bits of `trace-flags`.
  var flags: UInt8 { (self.isSampled ? 1 : 0) | (self.isRandom ? 2 : 0) }
}
