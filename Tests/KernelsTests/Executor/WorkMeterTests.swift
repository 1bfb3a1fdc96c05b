import SidelightKernels
import Synchronization
import Testing

/// The thread time of divided work, as opposed to the elapsed time.
@Suite struct WorkMeterTests {
  /// A clock that only the test moves.
  final class Clock: Sendable {
    private let time = Mutex(Duration.zero)

    var now: Duration { self.time.withLock { $0 } }

    func advance(by duration: Duration) { self.time.withLock { $0 += duration } }
  }

  /// A barrier at which a number of threads wait for one another.
  final class Rendezvous: Sendable {
    private let arrived = Atomic<Int>(0)

    func wait(for count: Int) {
      self.arrived.add(1, ordering: .acquiringAndReleasing)
      while self.arrived.load(ordering: .acquiring) < count {}
    }
  }

  @Test func `two parallel bands of ten milliseconds cost ten beyond the time that passes`() async {
    let clock = Clock()
    let meter = WorkMeter { clock.now }
    let (begun, over) = (Rendezvous(), Rendezvous())
    await Self.run(bands: 2, threads: 2, meter) { rows in
      begun.wait(for: 2)
      if rows.lowerBound == 0 { clock.advance(by: .milliseconds(10)) }
      over.wait(for: 2)
    }
    #expect(clock.now == .milliseconds(10))
    #expect(meter.beyondElapsed == .milliseconds(10))
  }

  @Test func `bands that one thread does one after the other cost the time that passes`() async {
    let clock = Clock()
    let meter = WorkMeter { clock.now }
    await Self.run(bands: 4, threads: 1, meter) { _ in clock.advance(by: .milliseconds(3)) }
    #expect(clock.now == .milliseconds(12))
    #expect(meter.beyondElapsed == .zero)
  }

  @Test func `work that is not split costs the time that passes`() async {
    let clock = Clock()
    let meter = WorkMeter { clock.now }
    await Self.run(bands: 1, threads: 2, meter) { _ in clock.advance(by: .milliseconds(3)) }
    #expect(meter.beyondElapsed == .zero)
  }

  static func run(
    bands: Int, threads: Int, _ meter: WorkMeter,
    _ work: @escaping @Sendable (Range<Int>) -> Void
  ) async {
    let pool = ComputePool(threadCount: threads)
    await withTaskExecutorPreference(pool) {
      var runner = BandRunner(maxBands: bands, minBandNanoseconds: 0)
      runner.meter = meter
      await runner.run(rows: bands, nanoseconds: 0, work)
    }
    pool.shutdown()
  }
}
