import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Loops, choices, arrays, functions, and the library.
@Suite struct `Statements of kernels` {
  /// Kernels, and the same without statements: the graphs are equal, so the bits are.
  static let equals: [(String, String)] = [
    (
      "var sum = vec3(0) for i in 0..<3 { sum += color.rgb * i } return sum",
      "color.rgb * 0 + color.rgb * 1 + color.rgb * 2"
    ),
    (
      "var a = 1 for y in -1...1 { let r = y * 2 for x in 0...1 { a = a * 2 + r + x } } a / 255",
      // ((((((1 2 - 2) 2 - 1) 2 + 0) 2 + 1) 2 + 2) 2 + 3)
      "(1 * 64 - 2 * 32 - 1 * 16 + 0 * 8 + 1 * 4 + 2 * 2 + 3) / 255"
    ),
    ("let w = [0.25, 0.5] color.rgb * w[1] + w[0]", "color.rgb * 0.5 + 0.25"),
    (
      "let c = [vec2(1, 2), vec2(3, 4)] vec3(c[1].x, c[0][1], color.a) / 8",
      "vec3(3, 2, color.a) / 8"
    ),
    (
      "var c = color.rgb if luma(color) < 0.5 { c = c.bgr c += 0.1 } else if color.r > 0.7 "
        + "{ c = vec3(0) } c",
      "luma(color) < 0.5 ? color.bgr + 0.1 : color.r > 0.7 ? vec3(0) : color.rgb"
    ),
    (
      "var c = color.rgb for i in 0..<4 { if i == 2 { c = c.gbr } else { c *= 0.5 } } c",
      "(color.rgb * 0.5 * 0.5).gbr * 0.5"
    ),
    (
      "func half(c: vec3) -> vec3 { let h = c / 2 return h } "
        + "func quarter(c: vec3) -> vec3 { half(half(c)) } quarter(color.rgb) + half(0.5)",
      "color.rgb / 2 / 2 + 0.25"
    ),
    (
      "func weigh(c: vec4, k: float) -> float { var s = 0 for i in 0..<3 { s += c[i] * k } s } "
        + "weigh(color, 0.25)",
      "0 + color.r * 0.25 + color.g * 0.25 + color.b * 0.25"
    ),
  ]

  @Test(arguments: Self.equals)
  func `a kernel with statements is one without them`(_ text: String, _ other: String) async throws
  {
    let bench = TestBench()
    let frame = try TestFrame.make(
      FrameGeometry(
        format: .rgba8, size: FrameSize(width: 31, height: 9),
        color: ColorDescription(alpha: .straight)))
    let result = try await bench.run([`Kernels as filters`.kernel(text)], on: frame)
    let expected = try await bench.run([`Kernels as filters`.kernel(other)], on: frame)
    #expect(result.samples == expected.samples)
    #expect(result.samples != frame.samples)
  }

  @Test(arguments: [
    ("func wide(d: float) -> vec4 { (sample(-d, 0) + sample(d, 0)) / 2 } wide(2) pass wide(1)", 2),
    ("color.rgb * 0.5 pass let c = sample(1, 1) c pass warp position + 3", 3),
    ("color.bgr pass return color.rgb * 0.5", 1),
  ])
  func `passes are kernels in a row`(_ text: String, _ passCount: Int) async throws {
    let bench = TestBench()
    let parts = text.split(separator: " pass ").map(String.init)
    let function = parts[0].hasPrefix("func") ? parts[0].prefix { $0 != "}" } + "} " : ""
    let stages = parts.enumerated().map { index, part in
      `Kernels as filters`.kernel(index == 0 ? part : function + part)
    }
    for format in [PixelFormat.rgba8, .rgb24, .i420] {
      let geometry = FrameGeometry(format: format, size: FrameSize(width: 31, height: 9))
      let frame = try TestFrame.make(geometry)
      let pipeline: Pipeline = [`Kernels as filters`.kernel(text)]
      let result = try await bench.run(pipeline, on: frame)
      let expected = try await bench.run(Pipeline(stages: stages), on: frame)
      #expect(result.samples == expected.samples)
      #expect(result.samples != frame.samples)
      func passes(_ pipeline: Pipeline) throws -> [String] {
        try bench.catalogue.resolve(pipeline).plan(for: geometry).passes.map(\.summary)
      }
      // Alpha and shared chroma may be converted in passes of their own, the same in both.
      #expect(try passes(pipeline) == passes(Pipeline(stages: stages)))
      if format == .rgb24 { #expect(try passes(pipeline).count == passCount) }
    }
  }

  @Test func `passes have limits, and names of their own`() throws {
    let nine = Array(repeating: "color", count: 9).joined(separator: " pass ")
    for (text, message) in [
      (nine, "more than 8 passes"), ("color pass", "expected a value, found the end"),
      ("let a = 0.5 a pass color * a", "there is no value named 'a'"),
      ("color pass func f() -> float { 1 } color pass g()", "there is no function named 'g'"),
    ] {
      let error = try #require(throws: KernelTextError.self) { try KernelText(text) }
      #expect(error.message.contains(message), "\(error)")
    }
    // The cost is the sum of all passes.
    let one = "var s = 0 for i in 0..<9 { s += pow(luma(sample(i, 0)), 2.2) } s"
    let cost = try KernelText(one).nanosecondsPerPixel
    #expect(try abs(KernelText("\(one) pass \(one)").nanosecondsPerPixel - 2 * cost) < 0.01)
  }

  @Test func `a sample is not divided by alpha to be multiplied with it`() throws {
    let sum =
      "var s = vec4(0) for i in 0..<9 { s += premultiply(sample(i, 0)) } unpremultiply(s / 9)"
    let straight = "var s = vec4(0) for i in 0..<9 { s += sample(i, 0) } s / 9"
    #expect(try KernelText(sum).nanosecondsPerPixel < KernelText(straight).nanosecondsPerPixel)
  }

  /// Returns the result of an expression of three numbers of 0 ... 1, to 1/255.
  static func numbers(_ source: String) async throws -> [Double] {
    let frame = try TestFrame.flat(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 4, height: 2)), 100)
    let result = try await TestBench().run([`Kernels as filters`.kernel(source)], on: frame)
    return result.samples[0].prefix(3).map { Double($0) / 255 }
  }

  /// Expressions of the library with known values.
  static let known: [(String, [Double])] = [
    ("rgbToHsv(vec3(0.2, 0.6, 0.4))", [5.0 / 12, 2.0 / 3, 0.6]),
    ("rgbToHsv(vec3(0.3))", [0, 0, 0.3]),
    ("rgbToHsl(vec3(0.2, 0.6, 0.4))", [5.0 / 12, 0.5, 0.4]),
    ("hsvToRgb(vec3(5 / 12, 2 / 3, 0.6))", [0.2, 0.6, 0.4]),
    ("hslToRgb(vec3(5 / 12, 0.5, 0.4))", [0.2, 0.6, 0.4]),
    ("srgbToLinear(vec3(0.5, 0.02, 1))", [0.21404, 0.001548, 1]),
    ("linearToSrgb(vec3(0.21404, 0.001548, 1))", [0.5, 0.02, 1]),
    // D65: L 53.24, a 80.09, b 67.20 for red.
    ("(rgbToLab(vec3(1, 0, 0)) + vec3(0, 0, 0)) / 100", [0.5324, 0.8009, 0.6720]),
    ("labToRgb(rgbToLab(vec3(0.1, 0.5, 0.9)))", [0.1, 0.5, 0.9]),
    ("mirror(vec2(-3, 25), vec2(10, 10)).xyx / 10", [0.3, 0.5, 0.3]),
    ("vec3(rotate(vec2(0.5, 0.2), pi / 2), 0) + vec3(0.2, 0, 0)", [0, 0.5, 0]),
    ("vec3(linearGradient(vec2(3, 9), vec2(1, 0), vec2(5, 0)))", [0.5, 0.5, 0.5]),
    ("vec3(radialGradient(vec2(3, 4), vec2(0), 4, 6))", [0.5, 0.5, 0.5]),
    ("premultiply(vec4(0.8, 0.4, 0.2, 0.5)).rgb", [0.4, 0.2, 0.1]),
    ("unpremultiply(vec4(0.4, 0.2, 0.1, 0.5)).rgb", [0.8, 0.4, 0.2]),
    ("unpremultiply(vec4(0.4, 0.2, 0.1, 0)).rgb", [0, 0, 0]),
    // .5 over .5: alpha .75, colour (1 .5 + 0 .25) / .75
    ("over(vec4(vec3(1), 0.5), vec4(0, 0, 0, 0.5)).rga", [2.0 / 3, 2.0 / 3, 0.75]),
    ("blendScreen(vec3(0.5), vec3(0.2, 0.6, 1))", [0.6, 0.8, 1]),
    ("blendOverlay(vec3(0.2, 0.6, 0.5), vec3(0.4))", [0.16, 0.52, 0.4]),
    ("blendSoftLight(vec3(0.2, 0.49, 0.6), vec3(0.25, 1, 0.5))", [0.12, 0.7, 0.6]),
    ("blendColorDodge(vec3(0, 0.3, 0.3), vec3(1, 0.5, 0.9))", [0, 0.6, 1]),
    ("blendColorBurn(vec3(1, 0.7, 0.7), vec3(0, 0.5, 0.1))", [1, 0.4, 0]),
    (
      "vec3(blendLuma(blendColor(vec3(0.2, 0.5, 0.3), vec3(0.9, 0.1, 0.2))))",
      [0.388, 0.388, 0.388]
    ),
    ("vec3(saturationOf(withSaturation(vec3(0.2, 0.5, 0.3), 0.6)))", [0.6, 0.6, 0.6]),
  ]

  @Test(arguments: Self.known)
  func `functions of the library have known values`(
    _ source: String, _ expected: [Double]
  ) async throws {
    let result = try await Self.numbers("vec3(\(source)) + 0 * color.rgb")
    for (value, wanted) in zip(result, expected) {
      #expect(abs(value - wanted) < 0.0041, "\(result)")
    }
  }

  @Test func `random numbers are even, and the same for equal numbers`() async throws {
    let size = FrameSize(width: 200, height: 100)
    let frame = try TestFrame.flat(FrameGeometry(format: .gray8, size: size), 0)
    let bench = TestBench()
    func run(_ source: String) async throws -> [UInt8] {
      try await bench.run([`Kernels as filters`.kernel(source)], on: frame).samples[0]
    }
    let first = try await run("hash(position)")
    var counts = Array(repeating: 0, count: 16)
    for level in first { counts[Int(level) / 16] += 1 }
    #expect(counts.allSatisfy { (1000 ... 1500).contains($0) }, "\(counts)")
    // Neighbours are independent: the mean of their products is the product of the means.
    let products = zip(first, first.dropFirst()).map { Double($0) * Double($1) }
    let mean = products.reduce(0, +) / Double(products.count) / (127.5 * 127.5)
    #expect(abs(mean - 1) < 0.02)
    #expect(try await run("hash(position, 0)") != first)
    #expect(Set(try await run("hash(floor(position / 300))")).count == 1)
    #expect(Set(try await run("noise(position / 7)")).count > 60)
  }
}
