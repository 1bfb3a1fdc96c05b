import SidelightKernelLanguage
import SidelightKernels
import Testing

/// A transparent border instead of clamped edges.
@Suite struct `Transparent borders` {
  static let names = [
    "gaussianBlur", "boxBlur", "motionBlur", "zoomBlur", "unsharpMask", "bloom", "gloom",
    "convolution3X3", "convolution5X5", "convolutionRGB3X3",
  ]

  static let transparent = ["border": ParameterValue.text("transparent")]

  static func stage(_ name: String, _ parameters: [String: ParameterValue] = [:]) -> Stage {
    .filter(name, parameters.merging(Self.transparent) { given, _ in given })
  }

  static let pipelines: [Pipeline] = [
    [Self.stage("gaussianBlur", ["radius": .number(2.5)])],
    [Self.stage("boxBlur", ["radius": .number(3.3)])],
    [Self.stage("boxBlur", ["radius": .number(40)])],
    [Self.stage("motionBlur", ["angle": .number(0.5)])],
    [Self.stage("zoomBlur", ["center": .vector([-30, 2.5]), "amount": .number(60)])],
    [Self.stage("zoomBlur", ["amount": .number(-80)])],
    [Self.stage("unsharpMask", ["radius": .number(1.5)])],
    [Self.stage("convolution3X3", ["weights": .vector(Array(repeating: 1.0 / 9, count: 9))])],
    [Self.stage("convolution5X5", ["weights": .vector(Array(repeating: 0.04, count: 25))])],
    [
      Self.stage(
        "convolutionRGB3X3",
        ["weights": .vector([0, 0.2, 0, 0.2, 0.2, 0.2, 0, 0.2, 0]), "bias": .number(0.1)])
    ],
    [.filter("sepiaTone"), Self.stage("boxBlur"), .filter("colorInvert")],
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `results are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format)
  }

  @Test(arguments: ["gaussianBlur", "bloom", "gloom"], PixelFormat.allCases)
  func `wide blurs are within two levels of the reference`(
    _ name: String, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare([Self.stage(name)], format, tolerance: 2)
  }

  @Test func `a flat opaque picture loses half of its light at the edge`() async throws {
    for format in [PixelFormat.gray8, .rgb24, .i420] {
      let geometry = FrameGeometry(
        format: format, size: FrameSize(width: 101, height: 81),
        color: ColorDescription(range: .full))
      let frame = try TestFrame.make(geometry, padding: .aligned) { plane, _, _, _ in
        plane == 0 ? 200 : 128
      }
      let step = format == .rgb24 ? 3 : 1
      for name in ["gaussianBlur", "boxBlur"] {
        let parameters = ["radius": ParameterValue.number(6)]
        let result = try await TestBench().run([Self.stage(name, parameters)], on: frame)
        // Half a pixel of the kernel lies within, beyond the half; so a little more than half.
        let edge = Int(result.samples[0][40 * 101 * step])
        #expect((100 ... 110).contains(edge), "\(format) \(name)")
        #expect(result.samples[0][(40 * 101 + 50) * step] == 200)
        let clamped = try await TestBench().run([.filter(name, parameters)], on: frame)
        #expect(clamped.samples[0] == frame.samples[0])
      }
    }
  }

  @Test func `edges with alpha become transparent and keep their colour`() async throws {
    let geometry = FrameGeometry(format: .rgba8, size: FrameSize(width: 60, height: 60))
    let frame = try TestFrame.make(geometry, padding: .aligned) { _, _, _, channel in
      [200, 100, 50, 255][channel]
    }
    let result = try await TestBench().run(
      [Self.stage("boxBlur", ["radius": .number(5)])], on: frame)
    let edge = Array(result.samples[0][30 * 240 ..< 30 * 240 + 4])
    // Six of eleven columns are within.
    #expect(abs(Int(edge[3]) - 139) <= 1)
    #expect(abs(Int(edge[0]) - 200) <= 1 && abs(Int(edge[1]) - 100) <= 1)
  }

  @Test(arguments: Self.names)
  func `each filter has the parameter and clamps by default`(_ name: String) throws {
    let description = try #require(FilterCatalogue.builtIn.description(named: name))
    let border = try #require(description.parameters.first { $0.name == "border" })
    #expect(border.kind == .choice(["clamp", "transparent"]))
    #expect(border.defaultValue == .text("clamp"))
    let geometry = FrameGeometry(format: .i420, size: FrameSize(width: 64, height: 48))
    let weights: ParameterValue? =
      switch name {
      case "convolution5X5": .vector(Array(repeating: 0.04, count: 25))
      case "convolution3X3", "convolutionRGB3X3": .vector(Array(repeating: 0.1, count: 9))
      default: nil
      }
    let given = weights.map { ["weights": $0] } ?? [:]
    func passes(_ stage: Stage) throws -> Int {
      try FilterCatalogue.builtIn.resolve([stage]).plan(for: geometry).passes.count
    }
    #expect(try passes(.filter(name, given)) == 1)
    #expect(try passes(Self.stage(name, given)) == 3)
    // A stage without effect isn't a pass, regardless of the border.
    let nothing = ["radius", "amount"].compactMap { candidate in
      description.parameters.first { $0.name == candidate }?.name
    }
    let still = Dictionary(uniqueKeysWithValues: nothing.map { ($0, ParameterValue.number(0)) })
    #expect(try passes(Self.stage(name, still)) == 0)
  }

  @Test(arguments: [FrameSize(width: 16384, height: 1), FrameSize(width: 1, height: 16380)])
  func `pictures at the size limit have clamped edges`(_ size: FrameSize) async throws {
    let frame = try TestFrame.flat(FrameGeometry(format: .gray8, size: size), 120)
    let result = try await TestBench().run([Self.stage("boxBlur")], on: frame)
    #expect(result.size == size)
  }

  @Test func `a mix with the input has the same size`() async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .nv12, size: FrameSize(width: 33, height: 21)))
    let stage = Stage(Self.stage("boxBlur").content, mix: 0.5)
    let bench = TestBench()
    let result = try await bench.run([stage], on: frame)
    #expect(result.worstDifference(from: try bench.reference([stage], on: frame)) <= 1)
  }
}
