/// The time that a call has, as `grpc-timeout` tells it.
package enum CallDeadline {
  /// Reads a header's value: one to eight digits and a unit, as gRPC's protocol over HTTP/2 says.
  ///
  /// - Returns: `nil` for anything else: a client that cannot say when it goes has no deadline.
  package static func duration(header value: String) -> Duration? {
    let digits = value.utf8.dropLast()
    guard (1 ... 8).contains(digits.count), digits.allSatisfy({ (0x30 ... 0x39).contains($0) }),
      let amount = Int64(value.dropLast())
    else { return nil }
    switch value.utf8.last {
    case UInt8(ascii: "H"): return .seconds(amount * 3600)
    case UInt8(ascii: "M"): return .seconds(amount * 60)
    case UInt8(ascii: "S"): return .seconds(amount)
    case UInt8(ascii: "m"): return .milliseconds(amount)
    case UInt8(ascii: "u"): return .microseconds(amount)
    case UInt8(ascii: "n"): return .nanoseconds(amount)
    default: return nil
    }
  }
}
