import Synchronization

/// A divider of a pass's rows into bands that run concurrently on the compute threads.
package struct BandRunner: Sendable {
  /// The maximum number of bands of a pass.
  package let maxBands: Int

  /// The estimated time in nanoseconds below which a band costs more than it saves.
  private let minBandNanoseconds: Double
  /// The meter of the bands' time; `nil` measures nothing.
  package var meter: WorkMeter?

  /// Creates a divider.
  ///
  /// - Parameters:
  ///   - maxBands: The maximum number of bands of a pass, at least 1.
  ///   - minBandNanoseconds: The minimum estimated time of a band in nanoseconds; smaller bands
  ///     cost more than they save. 0 always divides into `maxBands`, as far as there are rows.
  package init(maxBands: Int, minBandNanoseconds: Double = 150_000) {
    self.maxBands = maxBands
    self.minBandNanoseconds = minBandNanoseconds
  }

  /// Calls `work` for ranges that cover `0 ..< rows` exactly once, several at the same time.
  ///
  /// - Parameters:
  ///   - rows: The number of rows.
  ///   - alignment: The unit of rows: bands start at multiples of it.
  ///   - nanoseconds: The estimated time of all rows on one thread.
  ///   - work: Computes the rows of a band. Called on compute threads; the calling thread computes
  ///     the first band.
  package func run(
    rows: Int, alignment: Int = 1, nanoseconds: Double,
    _ work: @escaping @Sendable (Range<Int>) -> Void
  ) async {
    let usefulBands =
      self.minBandNanoseconds > 0
      ? max(1, Int(min(nanoseconds / self.minBandNanoseconds, 256))) : self.maxBands
    let units = (rows + alignment - 1) / alignment
    let bands = max(1, min(self.maxBands, usefulBands, units))
    guard bands > 1 else { return work(0 ..< rows) }
    func band(_ index: Int) -> Range<Int> {
      let lower = units * index / bands * alignment
      let upper = units * (index + 1) / bands * alignment
      return min(lower, rows) ..< min(upper, rows)
    }
    let ranges = (0 ..< bands).map(band)
    guard let meter = self.meter else { return await Self.runConcurrently(ranges, work) }
    await meter.bands {
      await Self.runConcurrently(ranges) { rows in meter.band { work(rows) } }
    }
  }

  private static func runConcurrently(
    _ bands: [Range<Int>], _ work: @escaping @Sendable (Range<Int>) -> Void
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for rows in bands.dropFirst() { group.addTask { work(rows) } }
      work(bands[0])
    }
  }
}

/// A meter of the thread time of divided work: the elapsed time, plus the time of bands that run in
/// parallel.
public final class WorkMeter: Sendable {
  private let now: @Sendable () -> Duration
  private let nanoseconds = Atomic<Int64>(0)

  /// Creates a meter.
  ///
  /// - Parameter now: The clock.
  public init(now: @escaping @Sendable () -> Duration) {
    self.now = now
  }

  /// The bands' time beyond the elapsed time: 0 if no bands ran in parallel. Smaller if threads
  /// waited for a band without working.
  public var beyondElapsed: Duration {
    .nanoseconds(self.nanoseconds.load(ordering: .acquiring))
  }

  /// Measures a band on its thread.
  func band(_ work: () -> Void) {
    let start = self.now()
    work()
    self.add(self.now() - start)
  }

  /// Subtracts the elapsed time from the start of the first band to the end of the last one.
  func bands(_ work: () async -> Void) async {
    let start = self.now()
    await work()
    self.add(start - self.now())
  }

  private func add(_ duration: Duration) {
    self.nanoseconds.add(Int64(duration / .nanoseconds(1)), ordering: .acquiringAndReleasing)
  }
}
