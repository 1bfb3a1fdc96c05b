import SidelightKernelLanguage
import SidelightKernels
import SidelightReference
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Laws of filters that hold for every picture.
@Suite struct `Laws of filters` {
  static let formats = PixelFormat.allCases
  static let size = FrameSize(width: 61, height: 43)

  static func frame(_ format: PixelFormat, _ size: FrameSize = Self.size) throws -> Frame {
    try TestFrame.make(
      FrameGeometry(format: format, size: size, color: ColorDescription(alpha: .opaque)), seed: 7)
  }

  @Test(arguments: Self.formats)
  func `inverting twice compiles to no pass`(_ format: PixelFormat) throws {
    let pipeline = try FilterCatalogue.builtIn.resolve(
      [.filter("colorInvert"), .filter("colorInvert")])
    #expect(pipeline.plan(for: FrameGeometry(format: format, size: Self.size)).isIdentity)
  }

  @Test(arguments: Self.formats)
  func `inverting twice in two runs restores the frame`(_ format: PixelFormat) async throws {
    // Video range leaves room on both sides, which avoids clamping on the way.
    let frame = try TestFrame.make(
      FrameGeometry(
        format: format, size: Self.size, color: ColorDescription(range: .full, alpha: .opaque)),
      padding: .packed
    ) { plane, x, y, channel in
      plane == 0 && channel < 3 ? UInt8(60 + (x * 2 + y) % 130) : UInt8(100 + (x + y) % 50)
    }
    let bench = TestBench()
    let once = try await bench.run([.filter("colorInvert")], on: frame)
    let twice = try await bench.run([.filter("colorInvert")], on: once)
    #expect(once.samples != frame.samples)
    #expect(twice.worstDifference(from: frame.samples) <= (format.isYUV ? 1 : 0))
  }

  @Test(arguments: Self.formats)
  func `rotating hue by pi twice restores the frame`(_ format: PixelFormat) async throws {
    let frame = try Self.frame(format)
    let turn = Stage.filter("hueAdjust", ["angle": .number(.pi)])
    let result = try await TestBench().run([turn, turn], on: frame)
    #expect(result.worstDifference(from: frame.samples) <= 1)
  }

  @Test(arguments: Self.formats, [0.5, 3, 10, 40, 200])
  func `a blurred flat field stays flat up to the edge`(
    _ format: PixelFormat, _ sigma: Double
  ) async throws {
    let bench = TestBench()
    for value: UInt8 in [0, 1, 16, 127, 128, 254, 255] {
      let geometry = FrameGeometry(
        format: format, size: Self.size, color: ColorDescription(alpha: .opaque))
      let frame = try TestFrame.flat(geometry, value)
      let result = try await bench.run(
        [.filter("gaussianBlur", ["radius": .number(sigma)])], on: frame)
      #expect(result.samples == frame.samples, "value \(value)")
    }
  }

  @Test(arguments: [2.5, 6.0, 10, 25])
  func `a blur is within 55 dB of the exact one, edges included`(_ sigma: Double) async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 211, height: 157))
    let frame = try TestFrame.make(geometry, seed: 5)
    let pipeline: Pipeline = [.filter("gaussianBlur", ["radius": .number(sigma)])]
    let bench = TestBench()
    let result = try await bench.run(pipeline, on: frame).samples[0]
    let exact = ReferenceInterpreter()
      .apply(try bench.catalogue.resolve(pipeline), to: ReferencePicture(frame))
    let errors = zip(result, exact.pixels).map { Double($0) - $1.x * 255 }
    let mean = errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)
    #expect(10 * log10(255 * 255 / mean) >= 55)
  }

  @Test(arguments: [2.0, 10, 25])
  func `a blur preserves the sum of a bright patch`(_ sigma: Double) async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 256, height: 256))
    let frame = try TestFrame.make(geometry, padding: .aligned) { _, x, y, _ in
      (96 ..< 160).contains(x) && (96 ..< 160).contains(y) ? 240 : 0
    }
    let result = try await TestBench().run(
      [.filter("gaussianBlur", ["radius": .number(sigma)])], on: frame)
    func sum(_ frame: Frame) -> Double { frame.samples[0].reduce(0) { $0 + Double($1) } }
    #expect(abs(sum(result) / sum(frame) - 1) < 0.01)
  }

  @Test(arguments: Self.formats)
  func `pixellated squares are uniform`(_ format: PixelFormat) async throws {
    let frame = try Self.frame(format)
    let result = try await TestBench().run(
      [.filter("pixellate", ["scale": .number(8), "center": .vector([16, 16])])], on: frame)
    for shape in PlaneShape.planes(format, Self.size) {
      let side = Int(8 * shape.scale)
      let samples = result.samples[shape.plane]
      for y in 0 ..< shape.height {
        for x in 0 ..< shape.samples {
          if format.hasAlpha, x % 4 == 3 { continue }  // opaque: passed on untouched
          let corner = (
            y: y / side * side, x: x / shape.step / side * side * shape.step + x % shape.step
          )
          #expect(samples[y * shape.samples + x] == samples[corner.y * shape.samples + corner.x])
        }
      }
    }
  }

  @Test(arguments: [
    Stage.filter("vignette", ["intensity": .number(0)]), .filter("colorControls"),
    .filter("hueAdjust"),
    .filter("sepiaTone", ["intensity": .number(0)]),
    .filter("gaussianBlur", ["radius": .number(0.1)]),
    .filter("pixellate", ["scale": .number(1)]),
  ])
  func `neutral settings compile to no pass`(_ stage: Stage) async throws {
    let frame = try Self.frame(.bgra8)
    let bench = TestBench()
    let result = try await bench.run([stage], on: frame)
    #expect(result.buffer === frame.buffer)
  }

  @Test(arguments: Self.formats)
  func `a grey filter keeps black and white of the range`(_ format: PixelFormat)
    async throws
  {
    let color = ColorDescription(range: .video, alpha: .opaque)
    let geometry = FrameGeometry(format: format, size: Self.size, color: color)
    let values: [UInt8] = format.isYUV ? [16, 235] : [0, 255]
    for value in values {
      let frame = try TestFrame.make(geometry, padding: .packed) { plane, _, _, _ in
        plane == 0 ? value : 128
      }
      let result = try await TestBench().run([.filter("grayscale")], on: frame)
      #expect(result.samples == frame.samples)
    }
  }

  @Test func `the two matrices of YUV give different pictures`() async throws {
    var results: [[[UInt8]]] = []
    for matrix in YUVMatrix.allCases {
      let geometry = FrameGeometry(
        format: .i420, size: Self.size, color: ColorDescription(matrix: matrix))
      let frame = try TestFrame.make(geometry, seed: 3)
      results.append(try await TestBench().run([.filter("sepiaTone")], on: frame).samples)
    }
    #expect(results[0] != results[1])
  }

  @Test(arguments: ["sepiaTone", "gaussianBlur", "pixellate", "vignette", "colorInvert"])
  func `the fourth byte of an opaque frame does not change`(_ name: String) async throws {
    let frame = try TestFrame.make(
      FrameGeometry(
        format: .rgba8, size: Self.size, color: ColorDescription(alpha: .opaque)),
      padding: .aligned
    ) { _, x, y, channel in UInt8((x * 5 + y * 3 + channel * 60) % 256) }
    let result = try await TestBench().run([.filter(name)], on: frame)
    #expect(result.samples != frame.samples)
    for index in stride(from: 3, to: result.samples[0].count, by: 4) {
      #expect(result.samples[0][index] == frame.samples[0][index])
    }
  }
}
