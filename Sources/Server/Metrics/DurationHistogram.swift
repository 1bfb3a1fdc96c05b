/// How often durations of about a length occurred, in bounded memory: each octave of nanoseconds is cut
/// into 32 equal parts, so that what is read back is off by 1.6 % at most.
package struct DurationHistogram: Sendable {
  private static let partBits = 5
  private static let partCount = 1 << partBits

  /// For each power of two from 1 ns on, its parts; what is shorter than 32 ns is counted exactly.
  private var counts = [Int](repeating: 0, count: 64 * partCount)
  /// How many durations were added.
  package private(set) var count = 0

  package init() {}

  /// Counts a duration; one below zero as zero.
  package mutating func add(_ duration: Duration) {
    let nanoseconds = UInt64(min(max(duration / .nanoseconds(1), 0), 0x1p62))
    self.counts[Self.index(nanoseconds)] += 1
    self.count += 1
  }

  /// The duration that so many hundredths of all do not exceed; `nil` if there are none.
  package func percentile(_ percent: Int) -> Duration? {
    guard self.count > 0 else { return nil }
    let rank = (self.count - 1) * percent / 100
    var before = 0
    for (index, count) in self.counts.enumerated() {
      before += count
      if before > rank { return .nanoseconds(Int64(Self.middle(index))) }
    }
    return nil
  }

  /// Exact below 32 ns; above, the octave and the five bits that follow the leading one.
  private static func index(_ nanoseconds: UInt64) -> Int {
    guard nanoseconds >= UInt64(self.partCount) else { return Int(nanoseconds) }
    let shift = nanoseconds.bitWidth - 1 - nanoseconds.leadingZeroBitCount - self.partBits
    return (shift + 1) * self.partCount + Int(nanoseconds >> shift) - self.partCount
  }

  private static func middle(_ index: Int) -> UInt64 {
    let shift = index / self.partCount - 1
    guard shift >= 0 else { return UInt64(index) }
    let low = UInt64(self.partCount + index % self.partCount) << shift
    return low + (1 << shift) / 2
  }
}
