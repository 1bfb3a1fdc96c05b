import SidelightKernels
import Synchronization
import Testing

/// Passes that are divided into slices, between which other work may go first.
@Suite struct SliceTests {
  /// A point that counts the pauses, and never waits.
  final class CountingPausePoint: PausePoint {
    let isContended: Bool
    let pauses = Atomic<Int>(0)

    init(isContended: Bool) {
      self.isContended = isContended
    }

    func pauseIfNeeded(_ meter: WorkMeter) async {
      self.pauses.add(1, ordering: .relaxed)
    }

    func leave(_ meter: WorkMeter) {}

    func rejoin(_ meter: WorkMeter) async {}
  }

  /// Runs rows, which advance the clock by `rowTime`.
  ///
  /// - Returns: The ranges in the order of their ends, and the number of pauses.
  static func run(
    rows: Int, alignment: Int = 1, rowTime: Duration, estimate: Duration, isContended: Bool = true
  ) async -> (ranges: [Range<Int>], pauses: Int) {
    let clock = WorkMeterTests.Clock()
    let point = CountingPausePoint(isContended: isContended)
    var runner = BandRunner(maxBands: 1)
    runner.meter = WorkMeter(now: { clock.now }, pausePoint: point)
    let ranges = Mutex<[Range<Int>]>([])
    await runner.run(
      rows: rows, alignment: alignment, nanoseconds: estimate / .nanoseconds(1)
    ) { range in
      ranges.withLock { $0.append(range) }
      clock.advance(by: rowTime * range.count)
    }
    return (ranges.withLock(\.self), point.pauses.load(ordering: .relaxed))
  }

  @Test(arguments: [(1, 1), (7, 2), (719, 2), (720, 16), (1080, 1), (3, 16)])
  func `slices cover every row once, in order, and begin at multiples of the alignment`(
    rows: Int, alignment: Int
  ) async {
    let (ranges, pauses) = await Self.run(
      rows: rows, alignment: alignment, rowTime: .microseconds(100), estimate: .milliseconds(30))
    #expect(ranges.flatMap(Array.init) == Array(0 ..< rows))
    #expect(ranges.allSatisfy { $0.lowerBound.isMultiple(of: alignment) })
    #expect(pauses == ranges.count)
  }

  @Test(arguments: [0.1, 1, 10])
  func `slices take about two milliseconds, whatever the estimate`(factor: Double) async {
    let (ranges, _) = await Self.run(
      rows: 1000, rowTime: .microseconds(100), estimate: .milliseconds(100) * factor)
    // Twenty rows per slice, once the first slices have shown the time of a row.
    #expect(ranges.dropFirst(5).dropLast().allSatisfy { (15 ... 25).contains($0.count) })
    #expect(ranges.count > 30)
  }

  @Test func `without other work a pass is not divided`() async {
    let (ranges, pauses) = await Self.run(
      rows: 1000, rowTime: .microseconds(100), estimate: .milliseconds(100), isContended: false)
    #expect(ranges == [0 ..< 1000])
    #expect(pauses == 0)
  }
}
