import Synchronization

/// Splits the rows of a pass over the compute threads.
package struct BandRunner: Sendable {
  /// The most bands that a pass is split into.
  package let maxBands: Int

  private let leastBandNanoseconds: Double
  /// What the bands' own times are added to.
  package var meter: WorkMeter?

  /// - Parameters:
  ///   - maxBands: The most bands that a pass is split into, at least 1.
  ///   - leastBandNanoseconds: Below this much work a band costs more than it saves; 0 splits
  ///     whatever has rows to split.
  package init(maxBands: Int, leastBandNanoseconds: Double = 150_000) {
    self.maxBands = maxBands
    self.leastBandNanoseconds = leastBandNanoseconds
  }

  /// Calls `work` for ranges that cover `0 ..< rows` exactly once, several at a time.
  ///
  /// - Parameters:
  ///   - rows: How many rows there are.
  ///   - alignment: Bands start at multiples of this.
  ///   - nanoseconds: What all rows together cost one thread, roughly.
  ///   - work: Computes the rows of a band. Called on compute threads; the caller's takes the first
  ///     band itself.
  package func run(
    rows: Int, alignment: Int = 1, nanoseconds: Double,
    _ work: @escaping @Sendable (Range<Int>) -> Void
  ) async {
    let worthwhile =
      self.leastBandNanoseconds > 0
      ? max(1, Int(min(nanoseconds / self.leastBandNanoseconds, 256))) : self.maxBands
    let units = (rows + alignment - 1) / alignment
    let bands = max(1, min(self.maxBands, worthwhile, units))
    guard bands > 1 else { return work(0 ..< rows) }
    func band(_ index: Int) -> Range<Int> {
      let lower = units * index / bands * alignment
      let upper = units * (index + 1) / bands * alignment
      return min(lower, rows) ..< min(upper, rows)
    }
    guard let meter = self.meter else { return await Self.share((0 ..< bands).map(band), work) }
    await meter.bands {
      await Self.share((0 ..< bands).map(band)) { rows in meter.band { work(rows) } }
    }
  }

  private static func share(
    _ bands: [Range<Int>], _ work: @escaping @Sendable (Range<Int>) -> Void
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for rows in bands.dropFirst() { group.addTask { work(rows) } }
      work(bands[0])
    }
  }
}

/// Tells what work costs one thread, where several share it: the time that passes, and what bands did
/// beside each other meanwhile.
public final class WorkMeter: Sendable {
  private let now: @Sendable () -> Duration
  private let nanoseconds = Atomic<Int64>(0)

  /// - Parameter now: The clock on which time is taken.
  public init(now: @escaping @Sendable () -> Duration) {
    self.now = now
  }

  /// The work that was done beyond the time that passed: 0 where no bands ran beside each other. Less
  /// where a band was waited for and nobody worked.
  public var beyondElapsed: Duration {
    .nanoseconds(self.nanoseconds.load(ordering: .acquiring))
  }

  /// A band's work, on its own thread.
  func band(_ work: () -> Void) {
    let start = self.now()
    work()
    self.add(self.now() - start)
  }

  /// The time from the first band's begin to the last one's end, which passes for everybody.
  func bands(_ work: () async -> Void) async {
    let start = self.now()
    await work()
    self.add(start - self.now())
  }

  private func add(_ duration: Duration) {
    self.nanoseconds.add(Int64(duration / .nanoseconds(1)), ordering: .acquiringAndReleasing)
  }
}
