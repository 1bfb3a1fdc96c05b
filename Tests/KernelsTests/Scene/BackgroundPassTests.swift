import SidelightKernels
import SidelightScene
import Testing

/// The drawing of `virtualBackground` and `backgroundBlur` on frames, with given mattes.
@Suite struct `The passes of backgrounds` {
  static func bench() throws -> TestBench {
    var bench = TestBench()
    bench.catalogue.assets = AssetStore([
      "photo": try ChainAssets.image(50, 40, .opaque, seed: 6)
    ])
    return bench
  }

  static let red = ParameterValue.color(RGBAColor(red: 1, green: 0, blue: 0))

  static let stages: [Stage] = [
    .filter("virtualBackground", ["backgroundImage": .text("photo"), "lightWrap": .number(1)]),
    .filter("virtualBackground", ["matte": .text("key"), "backgroundColor": Self.red]),
    .filter("backgroundBlur", ["sigma": .number(3)]),
  ]

  /// Runs a stage on a frame with a drawing. The frame is stored as displayed.
  static func run(
    _ stage: Stage, on frame: Frame, _ drawing: BackgroundDrawing?, _ bench: TestBench
  ) async throws -> Frame {
    let plan = try bench.catalogue.resolve([stage]).plan(for: frame.geometry)
    let scene = drawing.map {
      FrameScene(frameMap: UprightPicture(reducing: frame).frameMap, drawings: [$0])
    }
    return try await bench.executor.run(plan, on: frame, scene: scene)
  }

  /// A matte of one value, or of a function of the position in the reduced picture.
  static func matte(
    _ frame: Frame, _ value: (_ x: Int, _ y: Int) -> Float
  ) -> BackgroundDrawing {
    let picture = UprightPicture(reducing: frame).color
    let values = (0 ..< picture.width * picture.height).map {
      value($0 % picture.width, $0 / picture.width)
    }
    return .matte(MatteEstimate(width: picture.width, height: picture.height, values: values))
  }

  /// The samples of a frame, with 255 for a fourth byte that is ignored.
  static func samples(_ frame: Frame) -> [[UInt8]] {
    guard frame.format.hasAlpha, frame.color.alpha == .opaque else { return frame.samples }
    return [frame.samples[0].enumerated().map { $0.offset % 4 == 3 ? 255 : $0.element }]
  }

  @Test(arguments: PixelFormat.allCases)
  func `a matte of 1 leaves the frame as it is`(_ format: PixelFormat) async throws {
    let bench = try Self.bench()
    for color in FormatSweep.colors(format) {
      for (number, size) in FormatSweep.sizes.enumerated() {
        let frame = try TestFrame.make(
          FrameGeometry(format: format, size: size, color: color), seed: UInt64(number),
          padding: .ragged)
        let drawing = Self.matte(frame) { _, _ in 1 }
        let blurred = try await Self.run(Self.stages[2], on: frame, drawing, bench)
        // An ignored fourth byte has no effect.
        let kept = Self.samples(frame)
        #expect(blurred.samples == kept, "\(size) \(color)")
        let replaced = try await Self.run(Self.stages[0], on: frame, drawing, bench)
        if format.hasAlpha, color.alpha != .opaque {
          // Behind pixels that are not opaque is the background.
          let expected = try await bench.run(
            [
              .filter(
                "sourceOverCompositing",
                ["backgroundImage": .text("photo"), "fit": .text("fill")])
            ], on: frame)
          #expect(replaced.worstDifference(from: expected.samples) <= 1, "\(size) \(color)")
        } else {
          #expect(replaced.samples == kept, "\(size) \(color)")
        }
      }
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `a matte of 0 shows the background alone`(_ format: PixelFormat) async throws {
    let bench = try Self.bench()
    for color in FormatSweep.colors(format) {
      for size in FormatSweep.sizes {
        let geometry = FrameGeometry(format: format, size: size, color: color)
        func frame(_ level: Int) throws -> Frame {
          try TestFrame.make(geometry, padding: .ragged) { _, x, y, channel in
            UInt8((x * 7 + y * 3 + level + 50 * channel) % 256)
          }
        }
        let (first, second) = (try frame(0), try frame(90))
        for stage in Self.stages.dropLast() {
          let result = try await Self.run(stage, on: first, Self.matte(first) { _, _ in 0 }, bench)
          let expected = try await Self.run(
            stage, on: second, Self.matte(second) { _, _ in 0 }, bench)
          #expect(result.samples == expected.samples, "\(size) \(color)")
        }
        guard format != .gray8, !format.isYUV else { continue }
        let result = try await Self.run(
          Self.stages[1], on: first, Self.matte(first) { _, _ in 0 }, bench)
        let red = format == .bgra8 ? [0, 0, 255] : [255, 0, 0]
        #expect(Array(result.samples[0].prefix(3)) == red.map { UInt8($0) })
      }
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `with a matte of 0 the blur is about a Gaussian`(_ format: PixelFormat) async throws {
    let bench = TestBench()
    let size = FrameSize(width: 641, height: 363)
    for color in FormatSweep.colors(format) {
      let geometry = FrameGeometry(format: format, size: size, color: color)
      let frame = try TestFrame.make(geometry, padding: .aligned) { plane, x, y, channel in
        let (x, y) = plane == 0 ? (x, y) : (2 * x, 2 * y)
        if channel == 3 { return UInt8(160 + 90 * ((x / 160 + y / 120) % 2)) }
        let level = (x / 64 + y / 60 + channel + plane) % 3
        // Colours that have red, green and blue.
        return UInt8(plane == 0 ? 70 + 40 * level : 118 + 10 * level)
      }
      for sigma in [6.0, 30] {
        let result = try await Self.run(
          .filter("backgroundBlur", ["sigma": .number(sigma)]), on: frame,
          Self.matte(frame) { _, _ in 0 }, bench)
        let expected = try await bench.run(
          [.filter("gaussianBlur", ["radius": .number(sigma)])], on: frame)
        var sum = 0.0
        var count = 0.0
        for (own, other) in zip(result.samples.joined(), Self.samples(expected).joined()) {
          sum += abs(Double(own) - Double(other))
          count += 1
        }
        // Straight colour is reduced without its alpha, and alpha has the hardest edges.
        #expect(sum / count < (format.hasAlpha ? 3 : 2), "\(color) \(sigma)")
      }
    }
  }

  @Test(arguments: Self.stages.indices)
  func `all formats agree`(_ stage: Int) async throws {
    let bench = try Self.bench()
    let size = FrameSize(width: 320, height: 180)
    let scene = MatteScene(background: .room)
    let base = try BackgroundSceneSupport.frame(scene, size)
    let matte = MatteEstimate(
      width: size.width, height: size.height, values: scene.truth(size).map { Float($0) })
    func result(_ encoding: FrameEncoding) async throws -> [UInt8] {
      let empty = try bench.catalogue.resolve([])
      let frame = try await bench.executor.run(
        empty.plan(for: base.geometry, as: encoding), on: base)
      let drawn = try await Self.run(Self.stages[stage], on: frame, .matte(matte), bench)
      let back = FrameEncoding(format: .rgb24)
      return try await bench.executor.run(
        empty.plan(for: drawn.geometry, as: back), on: drawn
      ).samples[0]
    }
    let expected = try await result(FrameEncoding(format: .rgb24))
    for format in PixelFormat.allCases where format != .gray8 && format != .rgb24 {
      for color in FormatSweep.colors(format) {
        let found = try await result(FrameEncoding(format: format, color: color))
        let sum = zip(found, expected).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        let limit = format.isYUV ? 2.5 : 0.1
        #expect(Double(sum) / Double(expected.count) < limit, "\(format) \(color)")
      }
    }
  }

  @Test(arguments: [PixelFormat.bgra8, .i420, .nv12, .gray8], Self.stages.indices)
  func `in place and in bands it gives the same samples`(
    _ format: PixelFormat, _ stage: Int
  ) async throws {
    let bench = try Self.bench()
    for alpha in [AlphaMode.opaque, .straight] {
      let geometry = FrameGeometry(
        format: format, size: FrameSize(width: 333, height: 211),
        color: ColorDescription(alpha: alpha))
      let frame = try TestFrame.make(geometry, padding: .ragged)
      let drawing = Self.matte(frame) { x, _ in min(max(Float(x - 60) / 20, 0), 1) }
      let expected = try await Self.run(Self.stages[stage], on: frame, drawing, bench).samples
      let plan = try bench.catalogue.resolve([Self.stages[stage]]).plan(for: geometry)
      for bands in [1, 3, 16] {
        let executor = PlanExecutor(
          pool: BufferPool(), compute: ComputePool(threadCount: 2),
          fixedBands: BandRunner(maxBands: bands, minBandNanoseconds: 0))
        let (slab, copy) = PaddedBuffer.holding(frame)
        let result = try await executor.run(
          plan, on: copy,
          into: MutableFrame(layout: copy.layout, color: copy.color, buffer: slab.buffer),
          scene: FrameScene(
            frameMap: UprightPicture(reducing: frame).frameMap, drawings: [drawing]))
        #expect(result.samples == expected)
        #expect(slab.touchedBytes(outside: [copy.layout]) == 0)
      }
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `without a scene or a sure matte, a filter hides the frame if it protects`(
    _ format: PixelFormat
  ) async throws {
    let bench = try Self.bench()
    let geometry = FrameGeometry(
      format: format, size: FrameSize(width: 320, height: 180),
      color: ColorDescription(alpha: .opaque))
    // Stripes of one pixel.
    let frame = try TestFrame.make(geometry, padding: .aligned) { plane, x, _, channel in
      plane > 0 ? 128 : channel == 3 ? 255 : x % 2 == 0 ? 20 : 230
    }
    for drawing in [nil, BackgroundDrawing.unsure] {
      for (index, stage) in Self.stages.enumerated() {
        let hidden = try await Self.run(stage, on: frame, drawing, bench)
        let shown = try await Self.run(stage, on: frame, Self.matte(frame) { _, _ in 0 }, bench)
        if index < 2 { #expect(hidden.samples == shown.samples) }
        // The result doesn't contain a stripe of the frame.
        let row = hidden.samples[0].prefix(320)
        let step = format.hasAlpha ? 4 : format == .rgb24 ? 3 : 1
        if index == 2 {
          for (left, right) in zip(row.dropLast(step), row.dropFirst(step)) {
            #expect(abs(Int(left) - Int(right)) <= 2)
          }
        }
        var open = stage
        if case .filter(var call) = stage.content {
          call.parameters["protect"] = .flag(false)
          open.content = .filter(call)
        }
        let visible = try await Self.run(open, on: frame, drawing, bench)
        if drawing == nil {
          #expect(visible.samples == frame.samples)
        } else {
          // The blur of the whole frame is the same behind a picture.
          let blurred = try await Self.run(Self.stages[2], on: frame, .unsure, bench)
          #expect(visible.samples == blurred.samples)
        }
      }
    }
  }

  @Test(arguments: [PixelFormat.rgba8, .i420])
  func `a bright person does not spread into the blur`(_ format: PixelFormat) async throws {
    let bench = TestBench()
    let size = FrameSize(width: 640, height: 360)
    let isYUV = format.isYUV
    let frame = try TestFrame.make(
      FrameGeometry(
        format: format, size: size, color: ColorDescription(range: .full, alpha: .opaque)),
      padding: .aligned
    ) { plane, x, _, _ in plane > 0 ? 128 : (200 ..< 440).contains(x) ? 235 : 30 }
    let result = try await Self.run(
      .filter("backgroundBlur", ["sigma": .number(20)]), on: frame,
      Self.matte(frame) { x, _ in (100 ..< 220).contains(x) ? 1 : 0 }, bench)
    let step = isYUV ? 1 : 4
    let row = (0 ..< 640).map { Int(result.samples[0][(180 * 640 + $0) * step]) }
    for x in 0 ..< 640 where x < 190 || x >= 450 { #expect(abs(row[x] - 30) <= 2, "\(x)") }
    for x in 206 ..< 434 { #expect(row[x] == 235, "\(x)") }
    // A plain blur spreads it far.
    let plain = try await bench.run(
      [.filter("gaussianBlur", ["radius": .number(20)])], on: frame)
    #expect(plain.samples[0][(180 * 640 + 180) * step] > 50)
  }

  @Test func `light of the background falls on the edges of the person only`() async throws {
    let bench = TestBench()
    let frame = try TestFrame.flat(
      FrameGeometry(
        format: .rgba8, size: FrameSize(width: 320, height: 180),
        color: ColorDescription(alpha: .opaque)), 100)
    func row(_ lightWrap: Double) async throws -> [Int] {
      let result = try await Self.run(
        .filter(
          "virtualBackground",
          ["backgroundColor": Self.red, "lightWrap": .number(lightWrap)]), on: frame,
        Self.matte(frame) { x, _ in x >= 160 ? 1 : 0 }, bench)
      return (0 ..< 320).map { Int(result.samples[0][(90 * 320 + $0) * 4]) }
    }
    let (dark, lit) = (try await row(0), try await row(0.5))
    for x in 0 ..< 150 { #expect(lit[x] == 255) }
    #expect((155 ..< 166).contains { lit[$0] > dark[$0] + 15 })
    #expect((150 ..< 320).allSatisfy { lit[$0] >= dark[$0] })
    for x in 175 ..< 320 { #expect(lit[x] == 100) }
  }

  @Test func `a higher edge cuts closer`() async throws {
    let bench = TestBench()
    let size = FrameSize(width: 320, height: 180)
    let scene = MatteScene(background: .wall([0.7, 0.68, 0.64]))
    let frame = try BackgroundSceneSupport.frame(scene, size)
    let truth = MatteEstimate(
      width: size.width, height: size.height, values: scene.truth(size).map { Float($0) })
    var areas: [Int] = []
    for edge in [0, 0.5, 1] {
      let result = try await Self.run(
        .filter("virtualBackground", ["edge": .number(edge)]), on: frame, .matte(truth), bench)
      areas.append(BackgroundSceneSupport.alpha(result).reduce(0) { $0 + ($1 >= 0.5 ? 1 : 0) })
    }
    #expect(areas[0] > areas[1])
    #expect(areas[1] > areas[2])
    #expect(Double(areas[2]) > 0.9 * Double(areas[0]))
  }
}
