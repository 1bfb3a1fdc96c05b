import SidelightKernels
import SidelightScene
import Testing

/// Laws of the one-euro filter.
@Suite struct `The one-euro filter` {
  static let frame = Duration.nanoseconds(33_333_333)

  @Test func `a constant is returned as it is`() {
    var filter = OneEuroFilter(minimumCutoff: 1, speedCoefficient: 12)
    for _ in 0 ..< 50 {
      #expect(filter.filter(7.25, elapsed: Self.frame) == 7.25)
    }
    #expect(filter.speed == 0)
  }

  @Test func `without a speed coefficient it is the low-pass filter of its cutoff`() {
    var filter = OneEuroFilter(minimumCutoff: 2, speedCoefficient: 0)
    _ = filter.filter(0, elapsed: Self.frame)
    let weight = 1 / (1 + 30 / (2 * Double.pi * 2))
    var expected = 0.0
    for _ in 0 ..< 40 {
      expected += weight * (1 - expected)
      #expect(abs(filter.filter(1, elapsed: Self.frame) - expected) < 1e-6)
    }
  }

  @Test func `the result lies between the last result and the sample`() {
    var random = TestRandom(seed: 5)
    var filter = OneEuroFilter(minimumCutoff: 1, speedCoefficient: 12)
    var last = filter.filter(0, elapsed: Self.frame)
    for _ in 0 ..< 1000 {
      let sample = Double.random(in: -50 ... 50, using: &random)
      let elapsed = Duration.milliseconds(Int.random(in: 1 ... 400, using: &random))
      let next = filter.filter(sample, unit: 10, elapsed: elapsed)
      #expect((min(last, sample) ... max(last, sample)).contains(next))
      last = next
    }
  }

  @Test(arguments: [0.25, 3, 40])
  func `scaling samples and unit scales the result`(_ scale: Double) {
    var random = TestRandom(seed: 6)
    var (one, other) = (
      OneEuroFilter(minimumCutoff: 1, speedCoefficient: 12),
      OneEuroFilter(minimumCutoff: 1, speedCoefficient: 12)
    )
    for _ in 0 ..< 200 {
      let sample = Double.random(in: -5 ... 5, using: &random)
      let first = one.filter(sample, unit: 2, elapsed: Self.frame)
      let second = other.filter(scale * sample, unit: 2 * scale, elapsed: Self.frame)
      #expect(abs(second - scale * first) < 1e-9 * scale)
    }
  }

  @Test func `a ramp is followed closer with a speed coefficient`() {
    func lag(_ coefficient: Double) -> Double {
      var filter = OneEuroFilter(minimumCutoff: 1, speedCoefficient: coefficient)
      var lag = 0.0
      for step in 0 ..< 90 {
        let sample = 0.05 * Double(step)
        lag = sample - filter.filter(sample, elapsed: Self.frame)
      }
      return lag
    }
    #expect(lag(12) < 0.05)
    #expect(lag(0) > 0.2)
  }

  @Test func `samples that are no numbers, and time that does not advance, change nothing`() {
    var filter = OneEuroFilter(minimumCutoff: 1, speedCoefficient: 12)
    _ = filter.filter(.nan, elapsed: Self.frame)
    #expect(filter.value == nil)
    _ = filter.filter(3, elapsed: Self.frame)
    for (sample, elapsed) in [(Double.nan, Self.frame), (.infinity, Self.frame), (9, .zero)] {
      #expect(filter.filter(sample, elapsed: elapsed) == 3)
    }
    #expect(filter.filter(9, elapsed: .milliseconds(-5)) == 3)
    #expect(filter.filter(9, elapsed: Self.frame) > 3)
  }

  @Test func `an angle is filtered across half a turn`() {
    var filter = FaceBoxFilter()
    for step in 0 ..< 60 {
      let roll = (3.0 + 0.01 * Double(step)).remainder(dividingBy: 2 * .pi)
      let box = FaceBox(center: PicturePoint(x: 0, y: 0), size: 10, roll: roll)
      let filtered = filter.filter(box, elapsed: Self.frame)
      let error = (filtered.roll - roll).remainder(dividingBy: 2 * .pi)
      #expect(abs(error) < 0.05)
    }
  }
}
