import Synchronization

/// A divider of a pass's rows into bands that run concurrently on the compute threads.
package struct BandRunner: Sendable {
  /// The maximum number of bands of a pass.
  package let maxBands: Int

  /// The estimated time in nanoseconds below which a band costs more than it saves.
  private let minBandNanoseconds: Double
  /// The meter of the bands' time; `nil` disables the measurement.
  package var meter: WorkMeter?

  /// Creates a divider.
  ///
  /// - Parameters:
  ///   - maxBands: The maximum number of bands of a pass, at least 1.
  ///   - minBandNanoseconds: The minimum estimated time of a band in nanoseconds; smaller bands
  ///     cost more than they save. 0 always divides into `maxBands`, or into rows.
  package init(maxBands: Int, minBandNanoseconds: Double = 150_000) {
    self.maxBands = maxBands
    self.minBandNanoseconds = minBandNanoseconds
  }

  /// Calls `work` for ranges that cover `0 ..< rows` exactly once, several at the same time.
  ///
  /// - Parameters:
  ///   - alignment: The unit of rows: bands start at multiples of the unit.
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
    func rowRange(_ units: Range<Int>) -> Range<Int> {
      min(units.lowerBound * alignment, rows) ..< min(units.upperBound * alignment, rows)
    }
    guard let meter = self.meter, let pausePoint = meter.pausePoint, pausePoint.isContended else {
      return await self.run((0 ..< units).divided(into: bands).map(rowRange), work)
    }
    // Estimates can be wrong by a factor of ten, so the first slice is short and its time
    // determines the next slice's length.
    let total = Double(units)
    var length =
      total * min(1, Self.slice / .nanoseconds(1) / max(nanoseconds, 1) * Double(bands) / 8)
    var start = 0
    while start < units {
      await pausePoint.pauseIfNeeded(meter)
      let slice = start ..< min(units, start + max(1, Int(length)))
      let elapsed = await meter.elapsed {
        await self.run(slice.divided(into: min(bands, slice.count)).map(rowRange), work)
      }
      length = Double(slice.count) * min(4, max(0.25, Self.slice / max(elapsed, .nanoseconds(1))))
      start = slice.upperBound
    }
  }

  /// The time after which other work may go first.
  private static let slice = Duration.milliseconds(2)

  private func run(
    _ ranges: [Range<Int>], _ work: @escaping @Sendable (Range<Int>) -> Void
  ) async {
    guard ranges.count > 1 else { return work(ranges.first ?? 0 ..< 0) }
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

extension Range<Int> {
  /// Returns the parts of the range, in order. Their lengths differ by at most one.
  fileprivate func divided(into parts: Int) -> [Range<Int>] {
    (0 ..< parts).map { index in
      self.lowerBound + self.count * index / parts
        ..< self.lowerBound + self.count * (index + 1) / parts
    }
  }
}

/// Points within long work at which other work may go first.
package protocol PausePoint: AnyObject, Sendable {
  /// Whether other work may come. Long passes are then divided into slices.
  var isContended: Bool { get }

  /// Returns at once, or after other work with priority. Call it between slices, while no bands
  /// run.
  ///
  /// - Parameter meter: The meter of the calling work. The pause does not count as its work.
  func pauseIfNeeded(_ meter: WorkMeter) async

  /// Gives the threads to other work, before a wait.
  func leave(_ meter: WorkMeter)

  /// Waits for threads again, after ``leave(_:)``. After a cancellation it may return without them.
  func rejoin(_ meter: WorkMeter) async
}

/// A meter of the thread time of divided work: the elapsed time, plus the time of bands that run in
/// parallel, less the time of pauses.
public final class WorkMeter: Sendable {
  private let now: @Sendable () -> Duration
  private let nanoseconds = Atomic<Int64>(0)
  private let pausedNanoseconds = Atomic<Int64>(0)
  /// Lets other work go first; `nil` never pauses.
  package let pausePoint: (any PausePoint)?

  /// Creates a meter.
  ///
  /// - Parameter now: The clock.
  public convenience init(now: @escaping @Sendable () -> Duration) {
    self.init(now: now, pausePoint: nil)
  }

  /// Creates a meter of work that pauses for other work.
  package init(now: @escaping @Sendable () -> Duration, pausePoint: (any PausePoint)?) {
    self.now = now
    self.pausePoint = pausePoint
  }

  /// The bands' time in addition to the elapsed time: 0 if bands did not run in parallel and
  /// threads did not pause. Smaller if threads waited for a band without working.
  public var beyondElapsed: Duration {
    .nanoseconds(self.nanoseconds.load(ordering: .acquiring)) - self.paused
  }

  /// The part of the elapsed time in which the work paused.
  package var paused: Duration {
    .nanoseconds(self.pausedNanoseconds.load(ordering: .acquiring))
  }

  func elapsed(_ work: () async -> Void) async -> Duration {
    let start = self.now()
    await work()
    return self.now() - start
  }

  /// Measures a pause.
  package func pause(_ body: () async -> Void) async {
    let start = self.now()
    await body()
    self.pausedNanoseconds.add(
      Int64((self.now() - start) / .nanoseconds(1)), ordering: .acquiringAndReleasing)
  }

  /// Waits for something that needs no thread. Other work has the threads meanwhile, and the wait
  /// does not count as work.
  package func wait<Result: Sendable>(
    _ body: () async throws -> Result
  ) async throws -> Result {
    self.pausePoint?.leave(self)
    var result: Swift.Result<Result, any Error>?
    await self.pause {
      do {
        result = .success(try await body())
      } catch {
        result = .failure(error)
      }
      await self.pausePoint?.rejoin(self)
    }
    guard let result else { throw CancellationError() }
    return try result.get()
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
