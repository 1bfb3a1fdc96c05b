import SidelightKernels
import Testing

/// Edges, noise reduction and crystals: against the naive reference, and their laws.
@Suite struct `Stylizing filters` {
  static let pipelines: [Pipeline] = [
    [.filter("edges")],
    [.filter("CIEdges", ["inputIntensity": .number(3)])],
    [.filter("noiseReduction")],
    [.filter("noiseReduction", ["noiseLevel": .number(0.1), "sharpness": .number(0)])],
    [.filter("noiseReduction", ["noiseLevel": .number(0), "sharpness": .number(2)])],
    [.filter("crystallize", ["radius": .number(4)])],
    [.filter("crystallize", ["radius": .number(1), "center": .vector([3.3, -7])])],
    [.filter("crystallize")],
    [.filter("crystallize", ["radius": .number(500)])],
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `results are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format)
  }

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `deep results are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    let around = Stage.filter("boxBlur", ["radius": .number(1.5)])
    try await FormatSweep.compare(
      Pipeline(stages: [around] + pipeline.stages + [around]), format)
  }

  /// A flat field of luma, and of colour in formats with colour.
  private static func flat(_ format: PixelFormat, _ value: UInt8) throws -> Frame {
    try TestFrame.make(
      FrameGeometry(
        format: format, size: FrameSize(width: 67, height: 45),
        color: ColorDescription(range: .full, alpha: .opaque)), padding: .aligned
    ) { plane, _, _, channel in plane == 0 ? value : UInt8(100 + 30 * channel) }
  }

  @Test(arguments: PixelFormat.allCases, [0, 1, 77, 255] as [UInt8])
  func `a flat field has no edges, no noise and one crystal`(
    _ format: PixelFormat, _ value: UInt8
  ) async throws {
    let bench = TestBench()
    let frame = try Self.flat(format, value)
    for name in ["noiseReduction", "crystallize"] {
      let result = try await bench.run([.filter(name)], on: frame)
      let worst = result.worstDifference(from: frame.samples)
      // Luma 0 with colour isn't an RGB colour; it survives unless it goes through RGB and is
      // clamped.
      #expect(worst <= (format.isYUV && name == "noiseReduction" ? 1 : 0), "\(name)")
    }
    let edges = try await bench.run([.filter("edges")], on: frame)
    for (plane, samples) in edges.samples.enumerated() {
      for (index, sample) in samples.enumerated() where !format.hasAlpha || index % 4 != 3 {
        #expect(sample == (plane == 0 ? 0 : 128))
      }
    }
  }

  @Test func `a step from black to white is a white edge two pixels wide`() async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .gray8, size: FrameSize(width: 9, height: 5)), padding: .aligned
    ) { _, x, _, _ in x < 4 ? 0 : 255 }
    let result = try await TestBench().run([.filter("edges")], on: frame)
    #expect(Array(result.samples[0][18 ..< 27]) == [0, 0, 0, 255, 255, 0, 0, 0, 0])
  }

  @Test func `noise reduction reduces noise and keeps a strong edge`() async throws {
    var random = TestRandom(seed: 3)
    let frame = try TestFrame.make(
      FrameGeometry(format: .gray8, size: FrameSize(width: 80, height: 60)), padding: .aligned
    ) { _, x, _, _ in UInt8((x < 40 ? 60 : 190) + Int.random(in: -4 ... 4, using: &random)) }
    let result = try await TestBench().run(
      [.filter("noiseReduction", ["sharpness": .number(0)])], on: frame)
    func deviation(_ samples: [UInt8], _ columns: Range<Int>, _ middle: Double) -> Double {
      let squares = samples.indices.filter { columns.contains($0 % 80) }
        .map { (Double(samples[$0]) - middle) * (Double(samples[$0]) - middle) }
      return (squares.reduce(0, +) / Double(squares.count)).squareRoot()
    }
    for (columns, middle) in [(0 ..< 40, 60.0), (40 ..< 80, 190.0)] {
      #expect(
        deviation(result.samples[0], columns, middle)
          < deviation(frame.samples[0], columns, middle) / 2)
    }
  }

  @Test func `sharpness increases the contrast of a strong edge`() async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .gray8, size: FrameSize(width: 20, height: 5)), padding: .aligned
    ) { _, x, _, _ in x < 10 ? 100 : 150 }
    let row = try await TestBench().run([.filter("noiseReduction")], on: frame)
      .samples[0][40 ..< 60].map { Int($0) }
    #expect(row[9] < 100 && row[10] > 150)
    #expect(row[0] == 100 && row[19] == 150)
  }

  @Test func `a crystal has the mean colour of its pixels`() async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 200, height: 150))
    let frame = try TestFrame.make(geometry)
    let result = try await TestBench().run(
      [.filter("crystallize", ["radius": .number(10)])], on: frame)
    // Few values, and the mean of the whole stays: cells keep their sums, except for rounding.
    #expect(Set(result.samples[0]).count < 120)
    func mean(_ frame: Frame) -> Double {
      frame.samples[0].reduce(0) { $0 + Double($1) } / Double(frame.samples[0].count)
    }
    #expect(abs(mean(result) - mean(frame)) < 0.2)
    let again = try await TestBench(threads: 4).run(
      [.filter("crystallize", ["radius": .number(10)])], on: frame)
    #expect(again.samples == result.samples)
  }

  @Test func `bands do not change the result`() async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .nv12, size: FrameSize(width: 901, height: 703)))
    for name in ["edges", "noiseReduction", "crystallize"] {
      let whole = try await TestBench(threads: 1).run([.filter(name)], on: frame)
      let banded = try await TestBench(threads: 5).run([.filter(name)], on: frame)
      #expect(whole.samples == banded.samples, "\(name)")
    }
  }

  @Test(arguments: [FrameSize(width: 16384, height: 1), FrameSize(width: 1, height: 16384)])
  func `the longest rows and columns equal the reference`(_ size: FrameSize) async throws {
    let frame = try TestFrame.make(FrameGeometry(format: .i420, size: size), padding: .ragged) {
      plane, x, y, _ in UInt8((x * 3 + y * 5 + plane * 40) % 200 + 20)
    }
    let bench = TestBench()
    for name in ["edges", "noiseReduction"] {
      let result = try await bench.run([.filter(name)], on: frame)
      let expected = try bench.reference([.filter(name)], on: frame)
      #expect(result.worstDifference(from: expected) <= 1)
    }
    #expect(try await bench.run([.filter("crystallize")], on: frame).size == size)
  }
}
