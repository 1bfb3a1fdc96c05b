extension Duration {
  /// Whole microseconds, as the wire counts time; 0 for negative durations.
  var wireMicroseconds: UInt32 {
    let (seconds, attoseconds) = self.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (microseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    guard !isOverflow else { return .max }
    return UInt32(clamping: microseconds &+ attoseconds / 1_000_000_000_000)
  }
}
