import SidelightKernels
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
      // A line along the middle of cells, less than a pixel shorter than the face at each end.
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
      // Each cell of 8x8 samples, transposed.
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

  @Test(arguments: FaceCoverBench.filters, [false, true])
  func `straight and premultiplied colours agree, and alpha is kept`(
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
    let (alpha, kept) = (straight.samples[0], one.samples[0])
    #expect(stride(from: 3, to: alpha.count, by: 4).allSatisfy { alpha[$0] == kept[$0] })
    let colors = other.samples[0]
    #expect(colors.indices.allSatisfy { colors[$0] <= colors[$0 | 3] })
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
  /// The results of an asynchronous function, one after another.
  fileprivate func asyncMap<Result>(
    _ transform: (Element) async throws -> Result
  ) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
