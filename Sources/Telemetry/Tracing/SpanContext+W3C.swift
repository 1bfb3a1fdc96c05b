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
      state: Self.isCarried(tracestate) ? tracestate : "", isRemote: true)
  }

  /// The header value, in version 00.
  public var traceparent: String {
    "00-\(self.traceID)-\(self.spanID)-0\(self.flags)"
  }

  private static func isCarried(_ tracestate: String) -> Bool {
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
