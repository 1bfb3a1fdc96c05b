extension Duration {
  /// The duration in whole microseconds, the unit of the contract, or 0 for negative durations, and
  /// the greatest value for longer ones than it can state.
  package var wireMicroseconds: UInt32 {
    let (seconds, attoseconds) = self.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (microseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    guard !isOverflow else { return .max }
    return UInt32(clamping: microseconds &+ attoseconds / 1_000_000_000_000)
  }
}
