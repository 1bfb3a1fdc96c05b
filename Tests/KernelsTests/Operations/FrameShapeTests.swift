import SidelightKernels
import SidelightReference
import Testing

/// Results in another shape than the input's: rotated, and fitted into a size.
@Suite struct `Results in other shapes` {
  static let shapes: [FrameShape] = [
    FrameShape(width: 40, height: 40), FrameShape(width: 41, height: 27),
    FrameShape(width: 40, height: 40, fit: .fill), FrameShape(width: 13, height: 90, fit: .fill),
    FrameShape(width: 31, height: 8, fit: .stretch), FrameShape(width: 50),
    FrameShape(height: 21), FrameShape(orientation: Orientation(quarterTurns: 1)),
    FrameShape(
      orientation: Orientation(quarterTurns: 3, isMirrored: true), width: 64, height: 30),
  ]

  @Test(arguments: Self.shapes, PixelFormat.allCases)
  func `results are within a level of the reference`(
    _ shape: FrameShape, _ format: PixelFormat
  ) async throws {
    let bench = TestBench()
    let resolved = ResolvedPipeline.empty.shaped(shape)
    for color in FormatSweep.colors(format) {
      for (number, size) in FormatSweep.sizes.enumerated() {
        let geometry = FrameGeometry(format: format, size: size, color: color)
        let frame = try TestFrame.make(
          geometry, seed: UInt64(number), padding: TestFrame.Padding.allCases[number % 3])
        let plan = resolved.plan(for: geometry)
        let result = try await bench.executor.run(plan, on: frame)
        let expected = ReferenceInterpreter().apply(resolved, to: ReferencePicture(frame))
        #expect(result.size == shape.size(of: size))
        #expect(result.geometry == plan.output)
        #expect(
          result.worstDifference(from: expected.encoded()) <= 1, "\(size) \(color): \(plan)")
      }
    }
  }

  @Test(arguments: Self.shapes, PixelFormat.allCases)
  func `the shape is applied to the finished frames`(
    _ shape: FrameShape, _ format: PixelFormat
  ) async throws {
    let bench = TestBench()
    let size = FrameSize(width: 97, height: 130)
    for pipeline in [
      [.filter("sepiaTone"), .filter("vignette", ["intensity": .number(1)])],
      [.filter("gaussianBlur", ["radius": .number(2)])],
      [.filter("crop", ["width": .number(31), "height": .number(44)])],
    ] as [Pipeline] {
      for color in FormatSweep.colors(format) {
        let frame = try TestFrame.make(
          FrameGeometry(format: format, size: size, color: color), seed: 1)
        let resolved = try bench.catalogue.resolve(pipeline)
        let result = try await bench.executor.run(
          resolved.shaped(shape).plan(for: frame.geometry), on: frame)
        let made = try await bench.executor.run(resolved.plan(for: frame.geometry), on: frame)
        let shaped = try await bench.executor.run(
          ResolvedPipeline.empty.shaped(shape).plan(for: made.geometry), on: made)
        #expect(result.geometry == shaped.geometry)
        #expect(result.samples == shaped.samples, "\(color)")
      }
    }
  }

  @Test(arguments: [
    (FrameShape(), (1920, 1080), (1920, 1080)),
    (FrameShape(width: 640, height: 360), (1920, 1080), (640, 360)),
    (FrameShape(width: 640), (1920, 1080), (640, 360)),
    (FrameShape(height: 720), (1080, 1920), (405, 720)),
    (FrameShape(width: 64), (1, 16384), (64, 16384)), (FrameShape(width: 1), (16384, 1), (1, 1)),
    (FrameShape(orientation: Orientation(quarterTurns: 1)), (30, 20), (20, 30)),
    (FrameShape(orientation: Orientation(quarterTurns: 3), width: 40), (30, 20), (40, 60)),
    (FrameShape(width: 100_000, height: 0), (30, 20), (16384, 1)),
  ])
  func `a missing side follows from the other`(
    _ shape: FrameShape, _ given: (Int, Int), _ expected: (Int, Int)
  ) {
    let size = shape.size(of: FrameSize(width: given.0, height: given.1))
    #expect(size == FrameSize(width: expected.0, height: expected.1))
  }

  @Test(arguments: PixelFormat.allCases)
  func `bars are on both sides of the picture`(
    _ format: PixelFormat
  ) async throws {
    let bench = TestBench()
    let size = FrameSize(width: 64, height: 32)
    let geometry = FrameGeometry(
      format: format, size: size, color: ColorDescription(range: .full, alpha: .opaque))
    let frame = try TestFrame.make(geometry, seed: 1)
    let plan = ResolvedPipeline.empty.shaped(FrameShape(width: 64, height: 64)).plan(for: geometry)
    let result = try await bench.executor.run(plan, on: frame)
    let rows = result.samples[0].count / 64
    let picture = Array(result.samples[0][16 * rows ..< 48 * rows])
    #expect(picture == frame.samples[0])
    for bar in [0 ..< 16 * rows, 48 * rows ..< 64 * rows] {
      #expect(result.samples[0][bar].allSatisfy { $0 == 0 })
    }
    for plane in result.samples.dropFirst() {
      #expect(plane.prefix(plane.count / 4).allSatisfy { $0 == 128 })
      #expect(plane.suffix(plane.count / 4).allSatisfy { $0 == 128 })
    }
  }

  @Test
  func `a shape that frames already have compiles to no pass`() throws {
    let geometry = FrameGeometry(format: .i420, size: FrameSize(width: 64, height: 36))
    for shape in [
      FrameShape(), FrameShape(width: 64), FrameShape(height: 36),
      FrameShape(width: 64, height: 36, fit: .fill),
    ] {
      #expect(ResolvedPipeline.empty.shaped(shape).plan(for: geometry).isIdentity)
    }
    let cache = PlanCache()
    let small = cache.plan(for: .empty.shaped(FrameShape(width: 32)), geometry)
    #expect(small.output.size == FrameSize(width: 32, height: 18))
    #expect(cache.plan(for: .empty, geometry).isIdentity)
    #expect(small.passes.map(\.name) == ["output"])
  }
}
