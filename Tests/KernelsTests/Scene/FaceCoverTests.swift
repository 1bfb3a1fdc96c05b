import SidelightKernels
import SidelightScene
import Testing

/// The pixels of `faceBlur` and `facePixellate`.
@Suite struct `Covered faces` {
  typealias Bench = FaceCoverBench

  /// A face of the width 60 in a frame of the width 300.
  static let face = CoveredRegion(
    shape: .ellipse, center: PicturePoint(x: 131.3, y: 97.7), radiusX: 41.7, radiusY: 52.9,
    roll: 0.3, cell: 10.1)

  static func frame(
    _ format: PixelFormat, _ width: Int, _ height: Int, alpha: AlphaMode = .opaque,
    seed: UInt64 = 1,
    padding: TestFrame.Padding = .ragged
  ) throws -> Frame {
    try TestFrame.make(
      FrameGeometry(
        format: format, size: FrameSize(width: width, height: height),
        color: ColorDescription(alpha: alpha)),
      seed: seed, padding: padding)
  }

  /// Compares the mosaic of a region with its definition.
  static func compare(
    _ frame: Frame, _ region: CoveredRegion, _ map: AffineMap,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let result = try await Bench().run(
      "facePixellate", on: frame, FaceCoverage.regions([region]), map: map)
    let expected = Bench.mosaic(frame, region, map)
    let (before, after) = (frame.samples, result.samples)
    var covered = 0
    for plane in before.indices {
      var worst = 0.0
      for index in before[plane].indices {
        if let value = expected[plane][index] {
          worst = max(worst, abs(Double(after[plane][index]) - value))
          covered += 1
        } else if after[plane][index] != before[plane][index] {
          worst = .infinity
        }
      }
      #expect(worst <= 0.51, "plane \(plane) of \(frame.geometry)", sourceLocation: sourceLocation)
    }
    #expect(covered > 0, sourceLocation: sourceLocation)
  }

  @Test(arguments: PixelFormat.allCases)
  func `cells have the mean of their samples, and other samples are kept`(
    _ format: PixelFormat
  ) async throws {
    for (number, color) in FormatSweep.colors(format).enumerated() {
      let geometry = FrameGeometry(
        format: format, size: FrameSize(width: 161, height: 113), color: color)
      let padding = TestFrame.Padding.allCases[number % 3]
      let frame = try TestFrame.make(geometry, seed: UInt64(number), padding: padding)
      try await Self.compare(frame, Self.face, .identity)
      var rectangle = Self.face
      rectangle.shape = .rectangle
      rectangle.center.x = 20.3
      try await Self.compare(frame, rectangle, .identity)
    }
  }

  @Test(arguments: [0, 1, 2, 3], [false, true])
  func `regions turn and mirror with the frame`(_ turns: Int, _ isMirrored: Bool) async throws {
    for format in [PixelFormat.rgb24, .nv12] {
      let stored = try Self.frame(format, 643, 357)
      let frame = Raster(stored).frame(
        color: stored.color, orientation: Orientation(quarterTurns: turns, isMirrored: isMirrored))
      let picture = UprightPicture(reducing: frame)
      let region = CoveredRegion(
        shape: .ellipse,
        center: PicturePoint(x: 0.37 * Double(picture.luma.width), y: 71.3), radiusX: 33.3,
        radiusY: 41.9, roll: -0.4, cell: 9.7)
      try await Self.compare(frame, region, picture.frameMap)
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `regions cover frames of any size`(_ format: PixelFormat) async throws {
    for (width, height) in [(1, 1), (2, 1), (1, 3), (3, 3), (5, 4), (17, 9), (33, 2)] {
      let frame = try Self.frame(format, width, height)
      let region = CoveredRegion(
        shape: .rectangle, center: PicturePoint(x: 0.39, y: 0.31), radiusX: 40.3, radiusY: 39.7,
        roll: 0.2, cell: 2.3)
      try await Self.compare(frame, region, .identity)
      let blurred = try await Bench().run("faceBlur", on: frame, FaceCoverage.regions([region]))
      #expect(blurred.geometry == frame.geometry)
    }
  }

  @Test(arguments: [0.0, 0.3, 0.8])
  func `at most six cells are across a face`(_ roll: Double) async throws {
    let frame = try Self.frame(.gray8, 300, 200)
    let side = 61.0
    let box = FaceBox(center: PicturePoint(x: 150.2, y: 100.4), size: side, roll: roll)
    let region = CoveredRegion(
      shape: .ellipse, center: box.center, radiusX: 0.62 * side, radiusY: 0.74 * side, roll: roll,
      cell: side / FaceCoverage.maximumCells)
    let result = try await Bench().run(
      "facePixellate", on: frame, FaceCoverage.regions([region]))
    func levels(_ frame: Frame) -> Int {
      let samples = frame.samples[0]
      // A line along the middle of cells, less than a pixel shorter than the face at both ends.
      return Set(
        (12 ..< 588).map { step in
          let point = box.point(u: Double(step) / 600, v: 0.5 + 1 / 12)
          return samples[Int(point.y) * 300 + Int(point.x)]
        }
      ).count
    }
    #expect((4 ... 6).contains(levels(result)), "\(levels(result))")
    #expect(levels(frame) > 30)
  }

  @Test(arguments: FaceCoverBench.filters)
  func `no detail is left in a region, and a blur has no edges`(_ filter: String) async throws {
    let frame = try Self.frame(.gray8, 300, 200)
    let result = try await Bench().run(filter, on: frame, FaceCoverage.regions([Self.face]))
    // Without the samples at the border, whose neighbours may be outside.
    var inner = Self.face
    inner.radiusX -= 3
    inner.radiusY -= 3
    let before = Bench.detail(frame) { inner.contains($0) }
    let after = Bench.detail(result) { inner.contains($0) }
    #expect(after < before * (filter == "faceBlur" ? 0.02 : 0.25), "\(before) \(after)")
  }

  /// Frames whose cells have the same sums look the same.
  @Test(arguments: FaceCoverBench.filters)
  func `only the means of cells are visible`(_ filter: String) async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 96, height: 64))
    var random = TestRandom(seed: 9)
    let noise = (0 ..< 96 * 64).map { _ in UInt8.random(in: 0 ... 255, using: &random) }
    let frame = try TestFrame.make(geometry, padding: .packed) { _, x, y, _ in noise[y * 96 + x] }
    let shuffled = try TestFrame.make(geometry, padding: .packed) { _, x, y, _ in
      // Every cell of 8x8 samples, transposed.
      noise[(y / 8 * 8 + x % 8) * 96 + x / 8 * 8 + y % 8]
    }
    let region = CoveredRegion(
      shape: .rectangle, center: PicturePoint(x: 48, y: 32), radiusX: 60, radiusY: 50, roll: 0,
      cell: 8)
    let results = try await [frame, shuffled].asyncMap {
      try await Bench().run(filter, on: $0, FaceCoverage.regions([region])).samples
    }
    #expect(frame.samples != shuffled.samples)
    #expect(results[0] == results[1])
  }

  @Test(arguments: FaceCoverBench.filters)
  func `regions that overlap do not depend on their order`(_ filter: String) async throws {
    var regions = [Self.face, Self.face, Self.face]
    regions[1].center.x += 31.1
    regions[2].center.y -= 20.4
    regions[2].cell = 17
    for format in [PixelFormat.bgra8, .nv12] {
      let frame = try Self.frame(format, 300, 200, alpha: .straight)
      let results = try await [[0, 1, 2], [2, 1, 0], [1, 2, 0]].asyncMap { order in
        try await Bench().run(filter, on: frame, FaceCoverage.regions(order.map { regions[$0] }))
          .samples
      }
      #expect(Set(results).count == 1)
    }
  }

  @Test(arguments: FaceCoverBench.filters, PixelFormat.allCases)
  func `in place and in bands it gives the same samples`(
    _ filter: String, _ format: PixelFormat
  ) async throws {
    let bench = Bench()
    for alpha in format.hasAlpha ? AlphaMode.allCases : [.opaque] {
      let frame = try Self.frame(format, 299, 187, alpha: alpha)
      var other = Self.face
      other.center.x += 37.2
      for coverage in [FaceCoverage.regions([Self.face, other]), .whole(.faceLost), .regions([])] {
        let expected = try await bench.run(filter, on: frame, coverage).samples
        if case .regions([]) = coverage { #expect(expected == frame.samples) }
        let plan = try bench.plan(filter, [:], frame.geometry)
        for bands in [1, 3, 16] {
          let executor = PlanExecutor(
            pool: BufferPool(), compute: ComputePool(threadCount: 2),
            fixedBands: BandRunner(maxBands: bands, minBandNanoseconds: 0))
          let (memory, copy) = PaddedBuffer.holding(frame)
          let result = try await executor.run(
            plan, on: copy,
            into: MutableFrame(layout: copy.layout, color: frame.color, buffer: memory.buffer),
            scene: FrameScene(frameMap: .identity, drawings: [coverage]))
          #expect(result.samples == expected)
          #expect(memory.touchedBytes(outside: [copy.layout]) == 0)
        }
      }
    }
  }

  // MARK: - Alpha

  @Test(arguments: FaceCoverBench.filters, [false, true])
  func `straight and premultiplied colours agree, and covered pixels are opaque`(
    _ filter: String, _ isWhole: Bool
  ) async throws {
    let coverage = isWhole ? FaceCoverage.whole(.faceLost) : .regions([Self.face])
    let straight = try Self.frame(.rgba8, 300, 200, alpha: .straight)
    func premultiplied(_ frame: Frame) throws -> Frame {
      let samples = frame.samples[0]
      let geometry = FrameGeometry(
        format: .rgba8, size: frame.size, color: ColorDescription(alpha: .premultiplied))
      return try TestFrame.make(geometry, padding: .packed) { _, x, y, channel in
        let pixel = (y * 300 + x) * 4
        guard channel < 3 else { return samples[pixel + 3] }
        return UInt8((Int(samples[pixel + channel]) * Int(samples[pixel + 3]) + 127) / 255)
      }
    }
    let one = try await Bench().run(filter, on: straight, coverage)
    let other = try await Bench().run(filter, on: premultiplied(straight), coverage)
    let expected = try premultiplied(one).samples
    #expect(other.worstDifference(from: expected) <= 1)
    let (alpha, result) = (straight.samples[0], one.samples[0])
    for pixel in 0 ..< 300 * 200 {
      let center = PicturePoint(x: Double(pixel % 300) + 0.5, y: Double(pixel / 300) + 0.5)
      let isCovered = isWhole || Self.face.contains(center)
      #expect(result[4 * pixel + 3] == (isCovered ? 255 : alpha[4 * pixel + 3]))
    }
  }

  /// A portrait in alpha: stripes that the colours do not have.
  @Test(arguments: FaceCoverBench.filters, AlphaMode.allCases)
  func `nothing of alpha is left in a cover`(_ filter: String, _ alpha: AlphaMode) async throws {
    for (width, height) in [(300, 200), (61, 33), (5, 3)] {
      let geometry = FrameGeometry(
        format: .bgra8, size: FrameSize(width: width, height: height),
        color: ColorDescription(alpha: alpha))
      let frame = try TestFrame.make(geometry, padding: .ragged) { _, x, y, channel in
        channel == 3 && (x / 2 + y / 3).isMultiple(of: 2) ? 0 : alpha == .premultiplied ? 0 : 255
      }
      let all = CoveredRegion(
        shape: .rectangle, center: PicturePoint(x: 0, y: 0), radiusX: 1000, radiusY: 1000, roll: 0,
        cell: 30)
      for coverage in [FaceCoverage.whole(.faceLost), .regions([all])] {
        let result = try await Bench().run(filter, on: frame, coverage)
        let samples = result.samples[0]
        for index in stride(from: 3, to: samples.count, by: 4) { #expect(samples[index] == 255) }
        // The conversions that compose alpha don't reveal detail either.
        let rgb = try await Self.converted(result, to: .rgb24)
        #expect(Bench.detail(rgb) <= Bench.detail(result))
        #expect(Bench.detail(result) <= 0.03 * Double(3 * 255 * 255 * width * height))
      }
    }
  }

  /// Alpha selects one pixel per cell. A mean with the weights of alpha would be its colour, and
  /// the next frame could show the next pixel.
  @Test(arguments: FaceCoverBench.filters)
  func `alpha does not select the pixels that a mean shows`(_ filter: String) async throws {
    let geometry = FrameGeometry(format: .rgba8, size: FrameSize(width: 96, height: 64))
    let region = CoveredRegion(
      shape: .rectangle, center: PicturePoint(x: 48, y: 32), radiusX: 60, radiusY: 50, roll: 0,
      cell: 16)
    let frame = try TestFrame.make(geometry, padding: .packed) { _, x, y, channel in
      channel < 3 ? UInt8((x * 31 + y * 17) % 256) : x % 16 == 5 && y % 16 == 7 ? 255 : 0
    }
    for coverage in [FaceCoverage.whole(.faceLost), .regions([region])] {
      let samples = try await Bench().run(filter, on: frame, coverage).samples[0]
      // 255 levels of one pixel of 256.
      #expect(samples.indices.allSatisfy { $0 % 4 == 3 || samples[$0] <= 4 })
    }
  }

  static func converted(_ frame: Frame, to format: PixelFormat) async throws -> Frame {
    try await TestBench().executor.run(
      ResolvedPipeline.empty.plan(for: frame.geometry, as: FrameEncoding(format: format)),
      on: frame)
  }

  @Test(arguments: [PixelFormat.bgra8, .rgba8], AlphaMode.allCases)
  func `a frame on black is opaque, and an opaque frame is not copied`(
    _ format: PixelFormat, _ alpha: AlphaMode
  ) throws {
    for (number, size) in FormatSweep.sizes.enumerated() {
      let geometry = FrameGeometry(
        format: format, size: size, color: ColorDescription(alpha: alpha))
      let frame = try TestFrame.make(
        geometry, seed: UInt64(number), padding: TestFrame.Padding.allCases[number % 3])
      let result = frame.onBlack(in: BufferPool())
      #expect(result.geometry == frame.geometry)
      let (before, after) = (frame.samples[0], result.samples[0])
      for index in before.indices {
        let color = Int(before[index])
        let expected =
          index % 4 == 3
          ? 255 : alpha == .straight ? (color * Int(before[index | 3]) * 2 + 255) / 510 : color
        #expect(abs(Int(after[index]) - expected) <= (alpha == .straight ? 1 : 0))
      }
      #expect(result.onBlack(in: BufferPool()).buffer === result.buffer)
    }
    let gray = try Self.frame(.gray8, 8, 8)
    #expect(gray.onBlack(in: BufferPool()).buffer === gray.buffer)
  }

  // MARK: - Filters before

  @Test(arguments: [PixelFormat.bgra8, .i420, .nv12])
  func `covers grow by the reach of the blurs before them`(_ format: PixelFormat) async throws {
    let bench = Bench()
    let frame = try Self.frame(format, 299, 187)
    let blur = Stage.filter("gaussianBlur", ["radius": .number(2)])
    let map = AffineMap(a: 2, b: 0, c: 0, d: 2, tx: 0, ty: 0)
    var region = Self.face
    region.center = 0.5 * region.center
    for length in [\CoveredRegion.radiusX, \.radiusY, \.cell] { region[keyPath: length] /= 2 }
    let together = try await bench.bench.executor.run(
      try bench.bench.catalogue.resolve([blur, .filter("facePixellate")]).plan(for: frame.geometry),
      on: frame, scene: FrameScene(frameMap: map, drawings: [FaceCoverage.regions([region])]))
    let distance = ContentSpread.gaussian(sigma: 2) / 2
    region.radiusX += distance
    region.radiusY += distance
    let blurred = try await bench.bench.run([blur], on: frame)
    let expected = try await bench.run(
      "facePixellate", on: blurred, FaceCoverage.regions([region]), map: map)
    #expect(together.samples == expected.samples)
  }

  /// Beyond the reach of a filter a pixel has no effect: the law on which covers rely.
  @Test(
    arguments: [
      Stage.filter("gaussianBlur", ["radius": .number(1.3)]),
      .filter("gaussianBlur", ["radius": .number(7)]), .filter("boxBlur", ["radius": .number(3.4)]),
      .filter("boxBlur", ["radius": .number(5), "border": .text("transparent")]),
      .filter("motionBlur", ["radius": .number(9), "angle": .number(0.7)]),
      .filter("bloom", ["radius": .number(4), "intensity": .number(1)]),
      .filter("unsharpMask", ["intensity": .number(8)]),
      .filter("sharpenLuminance", ["sharpness": .number(64)]), .filter("median"), .filter("edges"),
      .filter("noiseReduction"), .filter("sketch"),
      .filter("sharpenAdaptive"),
      .filter("pixellate", ["scale": .number(13)]), .filter("crystallize", ["radius": .number(6)]),

      .filter(
        "convolution5X5", ["weights": .vector([0.5] + .init(repeating: 0, count: 23) + [0.5])]),
    ], [PixelFormat.bgra8, .i420])
  func `no content goes beyond the reach of a filter`(
    _ stage: Stage, _ format: PixelFormat
  ) async throws {
    let bench = TestBench()
    let geometry = FrameGeometry(format: format, size: FrameSize(width: 643, height: 357))
    let filter = try #require(bench.catalogue.resolve([stage]).stages.first)
    guard case .filter(_, _, let value) = filter.content else { return }
    var spread = ContentSpread()
    for node in value.nodes(for: geometry, in: .sRGBGamma) { spread.add(node, in: geometry) }
    let distance = try #require(spread.distance)
    let side = 41
    func make(_ level: @escaping (Int, Int) -> UInt8) throws -> Frame {
      try TestFrame.make(geometry, padding: .aligned) { plane, x, y, channel in
        let scale = plane > 0 ? 2 : 1
        let (dx, dy) = (x * scale - 321, y * scale - 178)
        let isInside = max(abs(dx), abs(dy)) <= side / 2
        if channel == 3 { return 255 }
        return isInside ? level(x, y) : UInt8(110 + (x * 7 + y * 3) % 40)
      }
    }
    let one = try await bench.run([stage], on: make { x, y in (x + y).isMultiple(of: 2) ? 0 : 255 })
    let other = try await bench.run([stage], on: make { x, y in UInt8((x * 5 + y) % 256) })
    var changed = 0
    for shape in PlaneShape.planes(format, geometry.size) {
      let (left, right) = (one.samples[shape.plane], other.samples[shape.plane])
      for index in left.indices where left[index] != right[index] {
        let (x, y) = (index / shape.step % shape.width, index / shape.samples)
        let scale = Int(1 / shape.scale)
        let (dx, dy) = (abs(x * scale - 321), abs(y * scale - 178))
        #expect(Double(max(dx, dy) - side / 2) <= distance, "\(shape.plane): \(x), \(y)")
        changed += 1
      }
    }
    #expect(changed > 0)
  }

  @Test(arguments: FaceCoverBench.filters)
  func `after a step that may have moved faces the whole frame is covered`(
    _ filter: String
  ) async throws {
    var bench = Bench()
    bench.bench.catalogue.register(`Pipelines with scene filters`.Mislabelled.self)
    let frame = try Self.frame(.bgra8, 320, 180)
    // The rules refuse the filter if its description is correct.
    let plan = try bench.bench.catalogue.resolve([.filter("mislabelled"), .filter(filter)])
      .plan(for: frame.geometry)
    func run(_ coverage: FaceCoverage) async throws -> [[UInt8]] {
      try await bench.bench.executor.run(
        plan, on: frame, scene: FrameScene(frameMap: .identity, drawings: [coverage])
      ).samples
    }
    #expect(try await run(.regions([Self.face])) == run(.whole(.fault)))
  }

  // MARK: - Whole frames

  @Test(arguments: PixelFormat.allCases)
  func `a whole frame has no detail at any size`(_ format: PixelFormat) async throws {
    for (width, height) in [(1, 1), (2, 2), (7, 5), (16, 9), (61, 33), (320, 180), (33, 300)] {
      let frame = try Self.frame(format, width, height)
      let result = try await Bench().run("faceBlur", on: frame, FaceCoverage.whole(.searching))
      let (before, after) = (Bench.detail(frame), Bench.detail(result))
      #expect(after <= before * (height < 20 ? 0.5 : 0.03), "\(frame.size): \(before) \(after)")
    }
  }

  @Test func `a whole frame is about a Gaussian of the documented sigma`() async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 640, height: 360))
    for strength in [1.0, 2] {
      // The difference of a step from neighbour to neighbour is a distribution.
      var (mean, square) = (0.0, 0.0)
      let frame = try TestFrame.make(geometry, padding: .packed) { _, x, _, _ in x < 320 ? 20 : 220
      }
      let result = try await Bench().run(
        "faceBlur", ["strength": .number(strength)], on: frame, FaceCoverage.whole(.faceLost))
      let row = result.samples[0][180 * 640 ..< 181 * 640].map(Double.init)
      for x in 1 ..< 640 {
        let share = (row[x] - row[x - 1]) / 200
        mean += share * Double(x)
        square += share * Double(x * x)
      }
      let sigma = (square - mean * mean).squareRoot()
      let wanted = FaceCoverage.wholeFrameSigma(height: 360, strength: strength)
      #expect(abs(sigma / wanted - 1) < 0.25, "\(sigma) \(wanted)")
      #expect(abs(mean - 320) < 0.2 * wanted)
    }
  }

  @Test(arguments: FaceCoverBench.filters)
  func `everything that is not a decision covers the whole frame`(_ filter: String) async throws {
    let frame = try Self.frame(.i420, 320, 180)
    var invalid = Self.face
    invalid.cell = .nan
    let singular = AffineMap(a: 1, b: 1, c: 1, d: 1, tx: 0, ty: 0)
    let unknown = AffineMap(a: 1, b: 0, c: 0, d: 1, tx: .nan, ty: 0)
    let face = FaceCoverage.regions([Self.face])
    let drawings: [((any Sendable)?, AffineMap)] = [
      (nil, .identity), ("another drawing", .identity), (FaceCoverage.whole(.fault), .identity),
      (FaceCoverage.regions([Self.face, invalid]), .identity), (face, singular), (face, unknown),
    ]
    let before = Bench.detail(frame)
    for (drawing, map) in drawings {
      let result = try await Bench().run(filter, on: frame, drawing, map: map)
      #expect(Bench.detail(result) < before * 0.02)
    }
    // The measure is not always small.
    let visible = try await Bench().run(filter, on: frame, FaceCoverage.regions([Self.face]))
    #expect(Bench.detail(visible) > before * 0.5)
  }

  @Test func `regions that have grown beyond all bounds cover the frame`() async throws {
    let frame = try Self.frame(.bgra8, 320, 180)
    for (radius, distance) in [(1e4, 0.0), (1e12, 1e5), (1e200, 1e8), (1e300, 1e299)] {
      var huge = Self.face
      huge.center.x += distance
      (huge.radiusX, huge.radiusY) = (radius, radius)
      let result = try await Bench().run("faceBlur", on: frame, FaceCoverage.regions([huge]))
      #expect(Bench.detail(result) < Bench.detail(frame) * 0.05)
    }
    var fine = Self.face
    fine.cell = 1e-9
    let result = try await Bench().run("facePixellate", on: frame, FaceCoverage.regions([fine]))
    #expect(result.geometry == frame.geometry)
  }
}

extension Array {
  /// The results of an asynchronous function, in sequence.
  fileprivate func asyncMap<Result>(
    _ transform: (Element) async throws -> Result
  ) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
