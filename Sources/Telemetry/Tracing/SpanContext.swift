/// The part of a span that is propagated: its IDs and the sampling decision.
public struct SpanContext: Sendable, Hashable {
  /// The ID of the trace.
  public let traceID: TraceID
  /// The ID of the span.
  public let spanID: SpanID
  /// Whether the trace is sampled.
  public let isSampled: Bool
  /// Whether the last 56 bits of the trace ID are random, according to its creator (W3C level 2).
  public let isRandom: Bool
  /// The `tracestate`, which is propagated unchanged.
  public let state: String
  /// Whether the span belongs to another process.
  public let isRemote: Bool

  /// - Parameters:
  ///   - isRandom: Whether the trace ID is known to be random.
  ///   - state: The `tracestate`, or an empty text.
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

  /// The `trace-flags`.
  var flags: UInt8 { (self.isSampled ? 1 : 0) | (self.isRandom ? 2 : 0) }
}
