import SidelightServer
import Testing

@Suite struct FrameDecimatorTests {
  /// Which of the frames that arrive at these times, in milliseconds, are within the rate.
  static func admitted(_ times: [Int], at framesPerSecond: Double) -> [Int] {
    var decimator = FrameDecimator(framesPerSecond: framesPerSecond)
    return times.filter { decimator.admits(at: .milliseconds($0)) }
  }

  @Test(
    arguments: [(30.0, 30.0, 300), (30, 15, 150), (30, 20, 200), (30, 10, 100), (60, 24, 240)])
  func `frames are dropped evenly`(sent: Double, limit: Double, expected: Int) {
    let times = (0 ..< Int(sent * 10)).map { Int(Double($0) * 1000 / sent) }
    let admitted = Self.admitted(times, at: limit)
    #expect(abs(admitted.count - expected) <= 1)
    let gaps = zip(admitted, admitted.dropFirst()).map { $1 - $0 }
    let step = 1000 / sent
    #expect(gaps.allSatisfy { abs(Double($0) - 1000 / limit) <= step + 1 }, "\(gaps)")
  }

  @Test func `jitter drops no frames`() {
    let times = (0 ..< 300).map { $0 * 33 + ($0 % 3) * 4 }
    #expect(Self.admitted(times, at: 30).count >= 297)
  }

  @Test func `a burst after a gap is limited to the rate`() {
    let times = [0, 33, 66, 5000, 5001, 5002, 5033]
    #expect(Self.admitted(times, at: 30) == [0, 33, 66, 5000, 5033])
  }
}
