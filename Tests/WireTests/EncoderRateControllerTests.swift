import SidelightWire
import Testing

@Suite struct EncoderRateControllerTests {
  private static let wide = EncoderTarget(
    bitRate: 20_000_000, width: 1280, height: 720, frameRate: 30)
  private static let small = EncoderTarget(
    bitRate: 2_000_000, width: 640, height: 360, frameRate: 30)

  /// A link whose rate falls from 10 to 2 Mbit/s at 10 s, and returns at 20 s.
  private static func fallingLink() -> SimulatedStream {
    SimulatedStream { $0 < 10 ? 10e6 : $0 < 20 ? 2e6 : 10e6 }
  }

  private static func percentile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    return sorted[Int(share * Double(sorted.count - 1))]
  }

  // MARK: Links

  @Test func `no frame becomes older than 400 ms when the link falls to a fifth`() {
    var target = Self.wide
    target.bitRate = 8_000_000
    var controller = EncoderRateController(target: target)
    var stream = Self.fallingLink()
    let frames = stream.run(&controller, seconds: 35).frames.filter { $0.captured > 2 }
    #expect(frames.map(\.age).max() ?? 1 <= 0.4)
    let settled = frames.filter { 12 ..< 20 ~= $0.captured }.map(\.age)
    #expect(settled.count >= 220)
    #expect(Self.percentile(settled, 0.95) <= stream.roundTrip + 0.15)
  }

  @Test func `the bit rate returns to most of the link within 10 s`() throws {
    var controller = EncoderRateController(target: Self.wide)
    var stream = Self.fallingLink()
    let frames = stream.run(&controller, seconds: 40).frames
    let low = frames.filter { 12 ..< 20 ~= $0.captured }.map { Double($0.target.bitRate) }
    #expect(low.reduce(0, +) / Double(low.count) >= 0.75 * 2e6)
    let returned = try #require(
      frames.first { $0.captured > 20 && $0.target.bitRate >= 8_000_000 })
    #expect(returned.captured < 30)
    // It stays there, and below the link.
    let later = frames.filter { $0.captured > returned.captured + 2 }
    let mean = later.map { Double($0.target.bitRate) }.reduce(0, +) / Double(later.count)
    #expect(mean > 7e6 && mean < 10.5e6)
  }

  @Test(arguments: [0.05, 0.1])
  func `a lost packet in a hundred costs few frames and no bit rate`(roundTrip: Double) {
    var controller = EncoderRateController(target: Self.small)
    var stream = SimulatedStream { _ in 5e6 }
    stream.loss = 0.01
    stream.roundTrip = roundTrip
    let (frames, captured) = stream.run(&controller, seconds: 60)
    #expect(Double(frames.count) >= (roundTrip < 0.1 ? 0.99 : 0.95) * Double(captured))
    let mean = frames.map { Double($0.target.bitRate) }.reduce(0, +) / Double(frames.count)
    #expect(mean >= 0.9 * 2e6)
  }

  @Test func `a link slower than the first bit rate is found`() {
    var controller = EncoderRateController(target: Self.wide)
    var stream = SimulatedStream { _ in 0.5e6 }
    let frames = stream.run(&controller, seconds: 30).frames.filter { $0.captured > 5 }
    #expect(Self.percentile(frames.map(\.age), 0.95) <= stream.roundTrip + 0.25)
    #expect(frames.allSatisfy { $0.target.bitRate < 800_000 })
  }

  @Test func `a quiet scene is not evidence that the link carries more`() throws {
    var controller = EncoderRateController(target: Self.wide)
    var stream = SimulatedStream { _ in 10e6 }
    stream.activity = { 3 ..< 20 ~= $0 ? 0.1 : 1 }
    let frames = stream.run(&controller, seconds: 22).frames
    let rates = frames.filter { 4 ..< 20 ~= $0.captured }.map(\.target.bitRate)
    #expect(try #require(rates.max()) == rates.min())
    #expect(rates[0] < 10_000_000)
  }

  @Test func `a path that becomes longer lowers the bit rate only for a while`() {
    var controller = EncoderRateController(target: Self.small)
    var stream = SimulatedStream { _ in 5e6 }
    stream.detour = (10, 0.1)
    let (frames, captured) = stream.run(&controller, seconds: 40)
    #expect(frames.filter { $0.captured > 25 }.allSatisfy { $0.target.bitRate == 2_000_000 })
    #expect(Double(frames.count) >= 0.97 * Double(captured))
  }

  @Test func `key frames do not lower the bit rate`() {
    var controller = EncoderRateController(target: Self.small)
    var stream = SimulatedStream { _ in 5e6 }
    stream.keyFrameInterval = 60
    let frames = stream.run(&controller, seconds: 30).frames
    #expect(frames.allSatisfy { $0.target.bitRate == 2_000_000 })
  }

  @Test func `frames that were in flight during a cut do not lower the bit rate for long`() {
    var controller = EncoderRateController(target: Self.small)
    var stream = SimulatedStream { 10 ..< 15 ~= $0 ? 0.001e6 : 5e6 }
    let frames = stream.run(&controller, seconds: 30).frames
    #expect(frames.filter { $0.captured > 25 }.allSatisfy { $0.target.bitRate == 2_000_000 })
    // The window, not a queue of 5 s, held what was captured meanwhile.
    #expect(frames.filter { 10.5 ..< 15 ~= $0.captured }.isEmpty)
  }

  @Test func `the time of the server does not count as the link's`() {
    var controller = EncoderRateController(target: Self.small)
    var stream = SimulatedStream { _ in 5e6 }
    stream.processing = { Int($0).isMultiple(of: 2) ? 0.01 : 0.08 }
    let frames = stream.run(&controller, seconds: 30).frames.filter { $0.captured > 5 }
    let mean = frames.map { Double($0.target.bitRate) }.reduce(0, +) / Double(frames.count)
    #expect(mean >= 0.97 * 2e6)
  }

  @Test func `results that take their own time on the way back do not close the window`() {
    var target = Self.wide
    target.bitRate = 8_000_000
    var controller = EncoderRateController(target: target)
    var stream = SimulatedStream { _ in 10e6 }
    stream.processing = { _ in 0.025 }
    stream.jitter = 0.02
    let frames = stream.run(&controller, seconds: 20).frames.filter { $0.captured > 8 }
    let mean = frames.map { Double($0.target.bitRate) }.reduce(0, +) / Double(frames.count)
    #expect(mean >= 0.95 * 8e6)
  }

  // MARK: The window

  @Test func `the window closes without acknowledgements and opens with them`() {
    var controller = EncoderRateController(target: Self.small)
    var sequence: UInt64 = 0
    func now() -> Duration { .milliseconds(Int(sequence) * 33) }
    while controller.maySend(at: now()), sequence < 100 {
      sequence += 1
      controller.sent(sequence: sequence, bytes: 8300, at: now())
    }
    #expect((3 ..< 10).contains(sequence))
    controller.acknowledged(through: sequence, at: now())
    let isOpen = controller.maySend(at: now())
    #expect(isOpen)
    // An acknowledgement of what is acknowledged already changes nothing.
    controller.acknowledged(through: 1, at: now())
    let isStillOpen = controller.maySend(at: now())
    #expect(isStillOpen)
  }

  @Test func `frames that were dropped leave the window`() {
    var controller = EncoderRateController(target: Self.small)
    for sequence in 1 ... 10 as ClosedRange<UInt64> {
      controller.sent(sequence: sequence, bytes: 8300, at: .zero)
    }
    let before = controller.current
    let isOpen = controller.maySend(at: .milliseconds(500))
    controller.discarded(through: 10, at: .milliseconds(500))
    let isOpenAgain = controller.maySend(at: .milliseconds(500))
    #expect(!isOpen && isOpenAgain && controller.current == before)
  }

  @Test func `frames that were dropped count as delivered`() {
    // Over a link that carries all. A frame larger than the mean closes the window now and then.
    let means = [false, true].map { isDropping in
      var controller = EncoderRateController(target: Self.small)
      var sequence: UInt64 = 0
      var arrivals: [(time: Duration, sequence: UInt64)] = []
      var sum = 0
      for frame in 0 ..< 600 {
        let now = Duration.seconds(frame) / 30
        while let first = arrivals.first, first.time <= now {
          arrivals.removeFirst()
          if isDropping, !first.sequence.isMultiple(of: 2) {
            controller.discarded(through: first.sequence, at: first.time)
          } else {
            controller.acknowledged(through: first.sequence, at: first.time)
          }
        }
        if controller.maySend(at: now) {
          sequence += 1
          let size = Double(controller.current.bitRate) / 8 / 30
          let factor = sequence.isMultiple(of: 8) ? 6 : 0.8
          controller.sent(sequence: sequence, bytes: Int(size * factor), at: now)
          arrivals.append((now + .milliseconds(100), sequence))
        }
        if frame >= 300 { sum += controller.current.bitRate }
      }
      return Double(sum) / 300
    }
    #expect(means[1] > 0.9 * means[0])
  }

  @Test func `late acknowledgements never widen the window`() {
    let target = EncoderTarget(bitRate: 1_000_000, width: 640, height: 360, frameRate: 60)
    let counts = [1, 60].map { step in
      // The first frame is acknowledged after 30 ms; then no others, for a time that is on time or
      // late.
      var controller = EncoderRateController(target: target)
      controller.sent(sequence: 1, bytes: 2083, at: .zero)
      controller.acknowledged(through: 1, at: .milliseconds(30))
      var sequence: UInt64 = 1
      for frame in 0 ..< 100 {
        let now = Duration.milliseconds(40 + (step == 1 ? 0 : frame * 16))
        guard controller.maySend(at: now) else { continue }
        sequence += 1
        controller.sent(sequence: sequence, bytes: 2083, at: now)
      }
      return sequence
    }
    #expect(counts[1] <= counts[0])
  }

  @Test func `a frame larger than the window is sent alone`() {
    var controller = EncoderRateController(target: Self.small)
    controller.sent(sequence: 1, bytes: 1_000_000, at: .zero)
    let isOpen = controller.maySend(at: .milliseconds(33))
    #expect(!isOpen)
    controller.acknowledged(through: 1, at: .seconds(2))
    let isOpenAgain = controller.maySend(at: .seconds(2))
    #expect(isOpenAgain)
  }

  // MARK: Size and frame rate

  @Test func `pictures become smaller before they become fewer`() {
    var last = EncoderTarget(bitRate: 4_000_000, width: 1280, height: 720, frameRate: 30)
    let target = last
    for bitRate in stride(from: 4_000_000, through: 4000, by: -4000) {
      let controller = EncoderRateController(
        target: target, minBitRate: 1000, startBitRate: bitRate)
      let current = controller.current
      #expect(current.bitRate == bitRate)
      #expect(current.width <= last.width && current.frameRate <= last.frameRate)
      #expect(current.width.isMultiple(of: 2) && current.height.isMultiple(of: 2))
      #expect(current.frameRate == 30 || current.width == 320)
      last = current
    }
    #expect(last.width == 320 && last.height == 180 && last.frameRate == 7.5)
  }

  @Test func `half of the wished bit rate keeps the wished size`() {
    for bitRate in [250_000, 500_000, 4_000_000] {
      let target = EncoderTarget(bitRate: bitRate, width: 1280, height: 720, frameRate: 30)
      let controller = EncoderRateController(target: target, startBitRate: bitRate / 2)
      #expect(controller.current.width == 1280)
    }
  }

  @Test func `a bit rate around a limit does not change the size again and again`() {
    // 720p becomes smaller below 829 kbit/s.
    var controller = EncoderRateController(target: Self.wide)
    var stream = SimulatedStream { Int($0 / 2).isMultiple(of: 2) ? 0.85e6 : 1.05e6 }
    let frames = stream.run(&controller, seconds: 60).frames
    let changes = zip(frames, frames.dropFirst()).count { $0.target.width != $1.target.width }
    #expect((1 ... 6).contains(changes))
  }

  @Test func `new wishes apply at once if they are lower`() {
    var controller = EncoderRateController(target: Self.small)
    var target = Self.small
    (target.bitRate, target.frameRate) = (500_000, 15)
    controller.setTarget(target, at: .seconds(1))
    #expect(controller.current == target)
  }
}
