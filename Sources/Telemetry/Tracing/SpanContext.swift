public import Tracing

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

/// W3C Trace Context (https://www.w3.org/TR/trace-context-2/): `traceparent` and `tracestate`.
extension SpanContext {
  /// Parses the context that another process sent.
  ///
  /// - Parameters:
  ///   - traceparent: `VERSION-TRACE-PARENT-FLAGS`. Of later versions the part that corresponds to
  ///     version 00 is parsed.
  ///   - tracestate: Propagated if it is printable and has at most 512 characters, which W3C
  ///     requires every system to support; else dropped, since it must not be shortened.
  /// - Returns: `nil` if `traceparent` is invalid; then a new trace begins.
  public init?(traceparent: String, tracestate: String = "") {
    var text = traceparent.utf8.makeIterator()
    guard let version = text.hexadecimal(digits: 2), version != 0xFF, text.next() == .dash,
      let high = text.hexadecimal(digits: 16), let low = text.hexadecimal(digits: 16),
      text.next() == .dash, let span = text.hexadecimal(digits: 16), text.next() == .dash,
      let flags = text.hexadecimal(digits: 2),
      let traceID = TraceID(high: high, low: low), let spanID = SpanID(span)
    else { return nil }
    switch (version, text.next()) {
    case (_, nil): break
    case (0, _): return nil
    case (_, .dash?): break
    default: return nil
    }
    self.init(
      traceID: traceID, spanID: spanID, isSampled: flags & 1 != 0, isRandom: flags & 2 != 0,
      state: Self.isPropagated(tracestate) ? tracestate : "", isRemote: true)
  }

  /// The header value, in version 00.
  public var traceparent: String {
    "00-\(self.traceID)-\(self.spanID)-0\(self.flags)"
  }

  private static func isPropagated(_ tracestate: String) -> Bool {
    tracestate.utf8.count <= 512 && tracestate.utf8.allSatisfy { (0x20 ... 0x7E).contains($0) }
  }
}

extension UInt8 {
  fileprivate static let dash = UInt8(ascii: "-")
}

extension String.UTF8View.Iterator {
  /// Parses lower-case hexadecimal digits; W3C forbids upper case.
  fileprivate mutating func hexadecimal(digits: Int) -> UInt64? {
    var value: UInt64 = 0
    for _ in 0 ..< digits {
      switch self.next() {
      case let digit? where (0x30 ... 0x39).contains(digit):
        value = value << 4 | UInt64(digit - 0x30)
      case let digit? where (0x61 ... 0x66).contains(digit):
        value = value << 4 | UInt64(digit - 0x57)
      default: return nil
      }
    }
    return value
  }
}

extension ServiceContext {
  private enum SpanContextKey: ServiceContextKey {
    typealias Value = SpanContextBox
    static var nameOverride: String? { "span-context" }
  }

  /// The current span of the context: the parent of spans that are started in it.
  public internal(set) var spanContext: SpanContext? {
    get { self[SpanContextKey.self]?.value }
    set { self[SpanContextKey.self] = newValue.map(SpanContextBox.init) }
  }
}

/// A class instance fits into the context's storage; every copy of a value would box it again.
private final class SpanContextBox: Sendable {
  let value: SpanContext

  init(_ value: SpanContext) {
    self.value = value
  }
}

/// The 128-bit ID of a trace; never zero.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
  /// The first 64 bits, in the order of the text form.
  public let high: UInt64
  /// The last 64 bits, which samplers use. W3C asks that at least the last 56 are random.
  public let low: UInt64

  /// - Returns: `nil` if all bits are zero, which isn't a valid ID.
  public init?(high: UInt64, low: UInt64) {
    guard high != 0 || low != 0 else { return nil }
    self.high = high
    self.low = low
  }

  /// 32 lower-case hexadecimal digits.
  public var description: String { self.high.hexadecimal + self.low.hexadecimal }
}

extension UInt64 {
  /// 16 lower-case hexadecimal digits.
  var hexadecimal: String {
    String(unsafeUninitializedCapacity: 16) { digits in
      for index in 0 ..< 16 {
        let digit = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * index)) & 15
        digits[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
      }
      return 16
    }
  }
}

/// The 64-bit ID of a span within its trace; never zero.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
  /// The bits, in the order of the text form.
  public let bits: UInt64

  /// - Returns: `nil` if all bits are zero, which isn't a valid ID.
  public init?(_ bits: UInt64) {
    guard bits != 0 else { return nil }
    self.bits = bits
  }

  /// 16 lower-case hexadecimal digits.
  public var description: String { self.bits.hexadecimal }
}
