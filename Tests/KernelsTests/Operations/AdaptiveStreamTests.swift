import SidelightKernels
import SidelightScene
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `whiteBalance` and `lowLight` over the frames of a stream.
@Suite struct `Adaptation over time` {
  /// A stream of flat RGB frames.
  struct Stream {
    static let geometry = FrameGeometry(format: .rgb24, size: FrameSize(width: 16, height: 8))
    private let bench = TestBench(threads: 1)
    private(set) var scene = StreamScene()
    private var index: UInt64 = 0
    var pipeline: Pipeline

    init(pipeline: Pipeline) {
      self.pipeline = pipeline
    }

    /// Filters a frame of one colour.
    ///
    /// - Returns: The first pixel of the result.
    mutating func filter(
      _ color: SIMD3<UInt8>, captured: Int64 = 0, arrived: Duration = .zero,
      from earlier: Pipeline? = nil
    ) async throws -> SIMD3<Double> {
      let frame = try TestFrame.make(Self.geometry, padding: .packed) { _, _, _, channel in
        color[channel]
      }
      let plan = try self.plan(self.pipeline)
      let time = FrameTime(index: self.index, arrival: arrived)
      self.index += 1
      let drawn = try await self.scene.step(
        frame, at: time, for: plan, from: try earlier.map(self.plan),
        captureNanoseconds: captured)
      let shown = earlier == nil ? plan : try self.plan(earlier ?? [])
      let result = try await self.bench.executor.run(
        shown, on: frame, at: time, scene: earlier == nil ? drawn.later : drawn.earlier)
      let samples = result.samples[0]
      return [Double(samples[0]), Double(samples[1]), Double(samples[2])]
    }

    /// Filters a frame with a capture time.
    mutating func filter(
      _ color: SIMD3<UInt8>, at milliseconds: Int
    ) async throws -> SIMD3<Double> {
      try await self.filter(color, captured: 1_000_000_000 + Int64(milliseconds) * 1_000_000)
    }

    private func plan(_ pipeline: Pipeline) throws -> Plan {
      try self.bench.catalogue.resolve(pipeline).plan(for: Self.geometry)
    }
  }

  static let neutral: SIMD3<UInt8> = [120, 120, 120]
  /// A tint whose red is 1.25 times its blue, of the same luma.
  static let tinted: SIMD3<UInt8> = [138, 116, 110]

  static func balance(_ smoothing: Double) -> Pipeline {
    [.filter("whiteBalance", ["smoothing": .number(smoothing)])]
  }

  /// The logarithm of red over blue.
  static func tint(_ color: SIMD3<Double>) -> Double { log(color.x / color.z) }

  @Test func `a first frame is corrected at once, and a change within the time constant`()
    async throws
  {
    var stream = Stream(pipeline: Self.balance(2))
    let first = try await stream.filter(Self.tinted, at: 0)
    #expect(first.max() - first.min() <= 1)
    _ = try await stream.filter(Self.neutral, at: 0)
    // The light of the frame before is still removed; after two seconds 1 / e of it.
    let before = try await stream.filter(Self.neutral, at: 0)
    #expect(abs(Self.tint(before) + log(138.0 / 110)) < 0.02)
    let after = try await stream.filter(Self.neutral, at: 2000)
    #expect(abs(Self.tint(after) + log(138.0 / 110) / M_E) < 0.02)
    let end = try await stream.filter(Self.neutral, at: 30_000)
    #expect(end.max() - end.min() <= 1)
  }

  /// The result of the last frame of a stream whose light changes after the first.
  static func last(_ times: [Int], _ pipeline: Pipeline) async throws -> SIMD3<Double> {
    var stream = Stream(pipeline: pipeline)
    _ = try await stream.filter([48, 42, 38], at: 0)
    var last = SIMD3<Double>.zero
    for time in times { last = try await stream.filter([70, 60, 76], at: time) }
    return last
  }

  @Test(arguments: [Self.balance(0.8), [.filter("lowLight", ["smoothing": .number(0.8)])]])
  func `the result depends neither on the frame rate nor on dropped frames`(
    _ pipeline: Pipeline
  ) async throws {
    let steady = try await Self.last((1 ... 30).map { 33 * $0 }, pipeline)
    let dropped = try await Self.last([33, 99, 132, 600, 990], pipeline)
    let fast = try await Self.last((1 ... 60).map { 990 * $0 / 60 }, pipeline)
    let one = try await Self.last([990], pipeline)
    for other in [dropped, fast, one] {
      #expect((0 ..< 3).allSatisfy { abs(steady[$0] - other[$0]) <= 1 }, "\(other) \(steady)")
    }
    // They have not settled, so the smoothing decided.
    let settled = try await Self.last([990, 20_000], pipeline)
    #expect((0 ..< 3).contains { abs(steady[$0] - settled[$0]) > 2 })
  }

  @Test func `flicker of the light is damped by the stated factor`() async throws {
    var smoothing = TemporalSmoothing(seconds: 1)
    var values: [Double] = []
    for index in 0 ..< 600 {
      let measured: SIMD2<Double> = index.isMultiple(of: 2) ? [0.2, 0] : [-0.2, 1]
      let time = SceneTime(
        index: UInt64(index), time: .zero, captureNanoseconds: 1 + Int64(index) * 40_000_000)
      let value = smoothing.advance(to: measured, at: time, restarts: false)
      values.append(try #require(value).x)
    }
    let difference = abs(values[599] - values[598])
    #expect(abs(difference - 0.4 * tanh(0.04 / 2)) < 1e-9)
    // The same in pictures: the correction hardly follows, so the flicker stays as it is.
    var stream = Stream(pipeline: Self.balance(2))
    var results: [Double] = []
    for index in 0 ..< 120 {
      let color = index.isMultiple(of: 2) ? Self.tinted : [110, 119, 138]
      results.append(Self.tint(try await stream.filter(color, at: 40 * index)))
    }
    let flicker = results.suffix(2).reduce(0) { abs($0 - $1) }
    #expect(abs(flicker - 2 * log(138.0 / 110)) < 0.03)
  }

  @Test(arguments: [Self.balance(5), [.filter("lowLight", ["smoothing": .number(5)])]])
  func `another scene is corrected at once`(_ pipeline: Pipeline) async throws {
    var (cut, alone) = (Stream(pipeline: pipeline), Stream(pipeline: pipeline))
    _ = try await cut.filter([200, 190, 170], at: 0)
    let result = try await cut.filter([50, 54, 60], at: 33)
    let expected = try await alone.filter([50, 54, 60], at: 33)
    #expect(result == expected)
  }

  @Test func `time is that of capture, or of arrival without it, and never runs backwards`()
    async throws
  {
    let measurements: [SIMD2<Double>?] = [[0, 0], [1, 1], nil, [1, 1], [1, 1], [1, 1]]
    // Capture time in seconds, or 0 without one; arrival in seconds.
    let times: [(captured: Int64, arrived: Int)] = [
      (10, 0), (11, 50), (12, 51), (11, 52), (0, 53), (9, 55),
    ]
    var smoothing = TemporalSmoothing(seconds: 1)
    var values: [Double] = []
    for (index, (measured, time)) in zip(measurements, times).enumerated() {
      let moment = SceneTime(
        index: UInt64(index), time: .seconds(time.arrived),
        captureNanoseconds: time.captured * 1_000_000_000)
      values.append(smoothing.advance(to: measured, at: moment, restarts: false)?.x ?? -1)
    }
    func rest(_ seconds: Double) -> Double { exp(-seconds) }
    let expected = [0, 1 - rest(1), 1 - rest(1), 1 - rest(1), 1 - rest(2), 1 - rest(4)]
    for (value, wanted) in zip(values, expected) { #expect(abs(value - wanted) < 1e-9) }
    var none = TemporalSmoothing(seconds: 1)
    let value = none.advance(to: nil, at: SceneTime(index: 0, time: .zero), restarts: true)
    #expect(value == nil)
  }

  @Test func `other parameters continue, and a pipeline without the filter ends it`() async throws {
    var stream = Stream(pipeline: Self.balance(2))
    _ = try await stream.filter(Self.tinted, at: 0)
    // A slider moves: the tint of the light before is still removed, by half.
    stream.pipeline = [
      .filter("gaussianBlur"),
      .filter("whiteBalance", ["smoothing": .number(2), "amount": .number(0.5)]),
    ]
    let half = try await stream.filter(Self.neutral, at: 0)
    #expect(abs(Self.tint(half) + log(138.0 / 110) / 2) < 0.02)
    stream.pipeline = [.filter("lowLight")]
    _ = try await stream.filter(Self.neutral, at: 1)
    stream.pipeline = Self.balance(2)
    let fresh = try await stream.filter(Self.neutral, at: 2)
    #expect(fresh.max() - fresh.min() <= 1)
  }

  @Test func `both pipelines of a transition have the state of before`() async throws {
    var stream = Stream(pipeline: Self.balance(2))
    _ = try await stream.filter(Self.tinted, captured: 1_000_000_000)
    let earlier = stream.pipeline
    stream.pipeline = [.filter("colorInvert"), .filter("whiteBalance")]
    let shown = try await stream.filter(Self.neutral, captured: 1_000_000_000, from: earlier)
    #expect(abs(Self.tint(shown) + log(138.0 / 110)) < 0.02)
    let later = try await stream.filter(Self.neutral, captured: 1_000_000_000)
    #expect(abs(Self.tint(later) + log(138.0 / 110)) < 0.03)
  }

  @Test func `a still image has its own correction, wherever it is`() async throws {
    let frame = try TestFrame.make(Stream.geometry, padding: .packed) { _, _, _, channel in
      Self.tinted[channel]
    }
    let bench = TestBench(threads: 1)
    for pipeline in [Self.balance(60), [.filter("lowLight", ["smoothing": .number(60)])]] {
      let plan = try bench.catalogue.resolve(pipeline).plan(for: Stream.geometry)
      let scene = try await StreamScene.still(frame, at: FrameTime(), for: plan)
      let still = try await bench.executor.run(plan, on: frame, scene: scene)
      let alone = try await bench.executor.run(plan, on: frame)
      #expect(still.samples == alone.samples)
    }
  }
}
