import SidelightKernels
import Testing

/// Filters that change the detail below an edge-preserving smoothing, and those built on them.
@Suite struct `Edge-preserving detail` {
  static let pipelines: [Pipeline] = [
    [.filter("edgePreservingSmooth")],
    [.filter("edgePreservingSmooth", ["amount": .number(0.6), "edges": .number(0.2)])],
    [.filter("sharpenAdaptive", ["sharpness": .number(2)])],
    [.filter("sharpenAdaptive", ["noise": .number(0)])],
    [.filter("beauty")],
    [.filter("colorInvert"), .filter("beauty", ["smoothing": .number(1)]), .filter("colorInvert")],
    [.filter("cartoon")],
    [.filter("cartoon", ["tones": .number(3), "lines": .number(1)])],
    [.filter("sketch", ["radius": .number(1.5)])],
    [.filter("sketch", ["radius": .number(2), "strength": .number(2), "shade": .number(1)])],
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `results are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format)
  }

  static let size = FrameSize(width: 96, height: 64)
  static let rgb = FrameGeometry(format: .rgb24, size: Self.size)

  /// Returns an RGB frame of a function of position.
  static func frame(_ color: (_ x: Int, _ y: Int) -> SIMD3<UInt8>) throws -> Frame {
    try TestFrame.make(Self.rgb, padding: .aligned) { _, x, y, channel in color(x, y)[channel] }
  }

  /// Returns the luma of the pixels of a row.
  static func luma(_ frame: Frame, row: Int) -> [Double] {
    let samples = frame.samples[0]
    return (0 ..< Self.size.width).map { x in
      let start = 3 * (row * Self.size.width + x)
      return 0.299 * Double(samples[start]) + 0.587 * Double(samples[start + 1])
        + 0.114 * Double(samples[start + 2])
    }
  }

  /// A checkerboard of pixels that differ by twice the amplitude, left darker than right.
  static func texture(_ amplitude: Int, step: Int) throws -> Frame {
    try Self.frame { x, y in
      let level = 100 + (x < 48 ? 0 : step) + ((x + y) % 2 == 0 ? amplitude : -amplitude)
      return SIMD3(repeating: UInt8(level))
    }
  }

  @Test func `smoothing removes texture and keeps a step`() async throws {
    let result = try await TestBench().run(
      [.filter("edgePreservingSmooth")], on: try Self.texture(6, step: 100))
    let row = Self.luma(result, row: 32)
    for x in (8 ..< 40).map(\.self) + (56 ..< 88).map(\.self) {
      #expect(abs(row[x] - (x < 48 ? 100 : 200)) <= 2, "\(x)")
    }
    // The step is not blurred: both sides are near their levels next to it.
    #expect(row[46] < 115 && row[49] > 185)
  }

  @Test func `adaptive sharpening amplifies texture, and neither noise nor a step`() async throws {
    let bench = TestBench()
    func contrast(_ amplitude: Int, step: Int = 0) async throws -> [Double] {
      let result = try await bench.run(
        [.filter("sharpenAdaptive", ["sharpness": .number(2), "noise": .number(0.03)])],
        on: try Self.texture(amplitude, step: step))
      let row = Self.luma(result, row: 32)
      return (0 ..< 95).map { abs(row[$0] - row[$0 + 1]) }
    }
    let strong = try await contrast(16)
    #expect(strong[20 ..< 40].allSatisfy { $0 > 2 * 16 * 1.3 })
    let noise = try await contrast(1)
    #expect(noise[20 ..< 40].allSatisfy { $0 <= 3 })
    // Without texture a step stays a step.
    let step = try await contrast(0, step: 100)
    #expect(abs(step[47] - 100) <= 4 && step[46] <= 2 && step[48] <= 2)
  }

  @Test func `beauty smooths skin of every shade and nothing else`() async throws {
    let bench = TestBench()
    for (color, isSkin): (SIMD3<Int>, Bool) in [
      ([224, 172, 142], true), ([141, 85, 60], true), ([82, 50, 38], true),
      ([60, 120, 200], false), ([70, 160, 60], false), ([128, 128, 128], false),
    ] {
      let frame = try Self.frame { x, y in
        let change = (x + y) % 2 == 0 ? 6 : -6
        return SIMD3(clamping: color &+ SIMD3(repeating: change))
      }
      let result = try await bench.run([.filter("beauty", ["smoothing": .number(1)])], on: frame)
      let row = Self.luma(result, row: 32)
      let contrast = (20 ..< 76).map { abs(row[$0] - row[$0 + 1]) }.max() ?? 0
      #expect(isSkin ? contrast < 4 : abs(contrast - 12) < 1e-9, "\(color)")
    }
  }

  @Test(arguments: ["edgePreservingSmooth", "sharpenAdaptive", "beauty"])
  func `flat pictures do not change`(_ name: String) async throws {
    for format in PixelFormat.allCases {
      let frame = try TestFrame.flat(FrameGeometry(format: format, size: Self.size), 150)
      let result = try await TestBench().run([.filter(name)], on: frame)
      #expect(result.samples == frame.samples, "\(format)")
    }
  }

  @Test func `a cartoon has few tones, and its lines are dark`() async throws {
    let ramp = try Self.frame { x, _ in SIMD3(repeating: UInt8(40 + 2 * x)) }
    let result = try await TestBench().run(
      [.filter("cartoon", ["tones": .number(4), "lines": .number(0)])], on: ramp)
    let tones = Self.luma(result, row: 32)
    let flat = zip(tones, tones.dropFirst()).count { abs($0 - $1) < 1 }
    #expect(flat > 48)
    let step = try Self.frame { x, _ in SIMD3(repeating: x < 48 ? 60 : 220) }
    let lines = try await TestBench().run(
      [.filter("cartoon", ["lines": .number(1)])], on: step)
    let row = Self.luma(lines, row: 32)
    #expect(row[47] < 10 && row[48] < 10 && row[40] > 30 && row[56] > 150)
  }

  @Test func `a sketch of a flat picture is shaded paper`() async throws {
    let frame = try TestFrame.flat(Self.rgb, 100)
    let result = try await TestBench().run(
      [.filter("sketch", ["shade": .number(0.5)])], on: frame)
    // 1 - .5 + .5 * 100 / 255 of 255.
    #expect(result.samples[0].allSatisfy { $0 == 178 || $0 == 177 })
  }
}
