import SidelightKernelLanguage
import SidelightKernels
import SidelightReference
import Testing

/// Laws of colour filters and effects that hold for every picture.
@Suite struct `Laws of colour filters and effects` {
  /// Returns a pipeline's result for one colour, far from any edge.
  static func color(_ pipeline: Pipeline, _ pixel: SIMD4<Double>) throws -> SIMD4<Double> {
    var picture = ReferencePicture(
      try TestFrame.flat(
        FrameGeometry(format: .rgba8, size: FrameSize(width: 1, height: 1)), 255))
    picture.pixels = [pixel]
    return ReferenceInterpreter()
      .apply(try FilterCatalogue.builtIn.resolve(pipeline), to: picture).pixels[0]
  }

  /// Returns the result for a flat opaque frame, as rows of RGBA bytes.
  static func flat(
    _ pipeline: Pipeline, _ color: SIMD4<UInt8>, size: FrameSize = FrameSize(width: 64, height: 48),
    index: UInt64 = 0
  ) async throws -> [UInt8] {
    let frame = try TestFrame.make(
      FrameGeometry(format: .rgba8, size: size, color: ColorDescription(alpha: .opaque)),
      padding: .aligned
    ) { _, _, _, channel in color[channel] }
    return try await TestBench().run(pipeline, on: frame, index: index).samples[0]
  }

  static func near(_ left: SIMD4<Double>, _ right: SIMD4<Double>, _ tolerance: Double) -> Bool {
    let difference = left - right
    return (difference * difference).sum() < tolerance * tolerance
  }

  static func adapt(_ from: Double, _ to: Double) -> Pipeline {
    [
      .filter(
        "temperatureAndTint",
        ["neutral": .vector([from, 0]), "targetNeutral": .vector([to, 0])])
    ]
  }

  @Test(arguments: [
    Stage.filter("colorMatrix"), .filter("exposureAdjust"), .filter("gammaAdjust"),
    .filter("vibrance"), .filter("whitePointAdjust"), .filter("temperatureAndTint"),
    .filter("toneCurve"), .filter("colorBalance"),
    .filter("toneCurve", ["point1": .vector([0.4, 0.4]), "point3": .vector([0.45, 0.45])]),
    .filter(
      "temperatureAndTint",
      ["neutral": .vector([4321, 12]), "targetNeutral": .vector([4321, 12])]),
    .filter("glow", ["intensity": .number(0)]), .filter("grain", ["amount": .number(0)]),
    .filter("vignetteEffect", ["intensity": .number(0)]),
  ])
  func `neutral settings compile to no pass`(_ stage: Stage) async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .bgra8, size: FrameSize(width: 31, height: 9)))
    let result = try await TestBench().run([stage], on: frame)
    #expect(result.buffer === frame.buffer)
  }

  @Test func `a glow of .6 maps white to 1, .97, .88`() async throws {
    let white = try Self.color([.filter("glow")], [1, 1, 1, 1])
    #expect(Self.near(white, [1, 0.97, 0.88, 1], 1e-9))
    let bytes = try await Self.flat([.filter("glow")], [255, 255, 255, 255])
    #expect(Array(bytes[0 ..< 4]) == [255, 247, 224, 255])
  }

  @Test(arguments: [0.0, 0.6, 1])
  func `a glow keeps pixels of luma up to a half`(_ intensity: Double) async throws {
    let glow: Pipeline = [.filter("glow", ["intensity": .number(intensity)])]
    // Luma .5 exactly in the middle one; blue and red can be bright with little luma.
    for pixel: SIMD4<Double> in [
      [0.1, 0.2, 0.3, 1], [0.5, 0.5, 0.5, 1], [1, 0, 1, 0.4], [0.9, 0.3, 0.9, 1],
    ] {
      #expect(Self.near(try Self.color(glow, pixel), pixel, 1e-12))
    }
    let grey = try await Self.flat(glow, [127, 127, 127, 255])
    #expect(grey.allSatisfy { $0 == 127 || $0 == 255 })
  }

  @Test func `5500 to 6500 cools, and its reverse warms`() throws {
    let grey: SIMD4<Double> = [0.5, 0.5, 0.5, 1]
    let cooled = try Self.color(Self.adapt(5500, 6500), grey)
    let warmed = try Self.color(Self.adapt(6500, 5500), grey)
    #expect(cooled.x < 0.49 && cooled.z > 0.51 && abs(cooled.y - 0.5) < 0.02)
    #expect(warmed.x > 0.51 && warmed.z < 0.49 && abs(warmed.y - 0.5) < 0.02)
    let back = try Self.color(Self.adapt(6500, 5500), cooled)
    #expect(Self.near(back, grey, 1e-5))
  }

  @Test func `a greater difference of temperature has a stronger effect`() throws {
    let reds = try [4000.0, 5000, 6500, 8000, 12000].map {
      try Self.color(Self.adapt($0, 6500), [0.5, 0.5, 0.5, 1]).x
    }
    #expect(zip(reds, reds.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func `daylight is adapted to illuminant A of CIE`() throws {
    // D65 (.31271, .32902) to A (.44757, .40745) through Bradford with gains to 1/2.2, computed
    // from the chromaticities alone; 2856 K is A's temperature, 6504 K is D65's. (In linear light,
    // encoded with 1/2.2: 1.32, .92, .52.)
    let white = try Self.color(Self.adapt(6504, 2856), [1, 1, 1, 1])
    #expect(Self.near(white, [1.373, 0.922, 0.543, 1], 0.03))
  }

  @Test func `removing green light leaves magenta`() throws {
    let result = try Self.color(
      [.filter("temperatureAndTint", ["neutral": .vector([6500, 60])])], [0.5, 0.5, 0.5, 1])
    #expect(result.y < 0.495 && result.x > 0.5 && result.z > 0.495)
  }

  @Test func `an exposure of a stop doubles, and gamma undoes its inverse`() throws {
    let pixel: SIMD4<Double> = [0.1, 0.35, 0.6, 0.5]
    #expect(
      Self.near(
        try Self.color([.filter("exposureAdjust", ["ev": .number(1)])], pixel),
        [0.2, 0.7, 1.2, 0.5], 1e-12))
    let there: Stage = .filter("gammaAdjust", ["power": .number(2.5)])
    let back: Stage = .filter("gammaAdjust", ["power": .number(0.4)])
    #expect(Self.near(try Self.color([there, back], pixel), pixel, 1e-9))
  }

  @Test func `a tone curve passes through its points, and keeps their order`() throws {
    let curve: Pipeline = [
      .filter(
        "toneCurve",
        [
          "point0": .vector([0, 0.05]), "point1": .vector([0.2, 0.1]),
          "point3": .vector([0.8, 0.95]), "point4": .vector([1, 0.97]),
        ])
    ]
    let shuffled: Pipeline = [
      .filter(
        "toneCurve",
        [
          "point0": .vector([0.8, 0.95]), "point1": .vector([1, 0.97]),
          "point2": .vector([0.2, 0.1]), "point3": .vector([0.5, 0.5]),
          "point4": .vector([0, 0.05]),
        ])
    ]
    for (tone, new) in [(0, 0.05), (0.2, 0.1), (0.5, 0.5), (0.8, 0.95), (1, 0.97)] {
      let pixel: SIMD4<Double> = [tone, 0.5, 1, 0.7]
      let result = try Self.color(curve, pixel)
      #expect(Self.near(result, [new, 0.5, 0.97, 0.7], 1e-12))
      #expect(try Self.color(shuffled, pixel) == result)
    }
    let values = try (0 ... 100).map { try Self.color(curve, [Double($0) / 100, 0, 0, 1]).x }
    #expect(zip(values, values.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func `a tone curve with one tone left is constant`() throws {
    let points = (0 ..< 5).map { ("point\($0)", ParameterValue.vector([0.5, 0.25])) }
    let flat: Pipeline = [.filter("toneCurve", Dictionary(uniqueKeysWithValues: points))]
    #expect(Self.near(try Self.color(flat, [0, 0.4, 1, 1]), [0.25, 0.25, 0.25, 1], 1e-12))
  }

  @Test func `a colour balance shifts dark, middle and bright pixels separately`() throws {
    func shifted(_ name: String, _ grey: Double) throws -> Double {
      let result = try Self.color(
        [.filter("colorBalance", [name: .vector([1, 0, 0]), "keepsLuma": .flag(false)])],
        [grey, grey, grey, 1])
      #expect(abs(result.y - grey) < 1e-12 && abs(result.z - grey) < 1e-12)
      return result.x - grey
    }
    for (name, grey, shift) in [
      ("shadows", 0.0, 0.5), ("shadows", 1, 0), ("highlights", 1, 0.5), ("highlights", 0, 0),
      ("midtones", 0.5, 0.25), ("midtones", 0, 0),
    ] {
      #expect(abs(try shifted(name, grey) - shift) < 1e-9, "\(name) at \(grey)")
    }
  }

  @Test func `three equal shifts are one matrix, and a balance keeps luma`() async throws {
    let shift = ParameterValue.vector([0.2, -0.1, 0.4])
    let equal: Stage = .filter(
      "colorBalance",
      ["shadows": shift, "midtones": shift, "highlights": shift, "keepsLuma": .flag(false)])
    let bias: Stage = .filter("colorMatrix", ["biasVector": .vector([0.1, -0.05, 0.2, 0])])
    let frame = try TestFrame.make(
      FrameGeometry(format: .bgra8, size: FrameSize(width: 31, height: 9)))
    let balanced = try await TestBench().run([equal], on: frame)
    let biased = try await TestBench().run([bias], on: frame)
    #expect(balanced.samples == biased.samples)
    for pixel: SIMD4<Double> in [[0.1, 0.3, 0.2, 1], [0.8, 0.5, 0.6, 0.4]] {
      let result = try Self.color(
        [.filter("colorBalance", ["shadows": shift, "highlights": .vector([-0.3, 0.2, 0])])], pixel)
      let weights: SIMD4<Double> = [0.2126, 0.7152, 0.0722, 0]
      #expect(abs((result * weights).sum() - (pixel * weights).sum()) < 1e-12)
      #expect(!Self.near(result, pixel, 0.01))
    }
  }

  @Test func `vibrance changes dull colours more than saturated ones, and no greys`() throws {
    let vibrance: Pipeline = [.filter("vibrance", ["amount": .number(1)])]
    func spread(_ pixel: SIMD4<Double>) -> Double {
      max(pixel.x, pixel.y, pixel.z) - min(pixel.x, pixel.y, pixel.z)
    }
    let dull: SIMD4<Double> = [0.4, 0.45, 0.5, 1]
    let bright: SIMD4<Double> = [0.2, 0.5, 0.9, 1]
    let dullGain = spread(try Self.color(vibrance, dull)) / spread(dull)
    let brightGain = spread(try Self.color(vibrance, bright)) / spread(bright)
    #expect(abs(dullGain - 1.9) < 1e-9 && abs(brightGain - 1.3) < 1e-9)
    // Pale, olive and dark skin move less than half as much as other colours of their dullness.
    for skin: SIMD4<Double> in [
      [0.91, 0.73, 0.61, 1], [0.78, 0.6, 0.45, 1], [0.4, 0.27, 0.18, 1],
    ] {
      let gain = spread(try Self.color(vibrance, skin)) / spread(skin)
      #expect((gain - 1) < 0.5 * (1 - spread(skin)))
    }
    #expect(Self.near(try Self.color(vibrance, [0.4, 0.4, 0.4, 1]), [0.4, 0.4, 0.4, 1], 1e-12))
    #expect(Self.near(try Self.color(vibrance, [1, 0, 0, 1]), [1, 0, 0, 1], 1e-12))
  }

  @Test func `grain lies between 1 - amount and 1, and fills that range`() async throws {
    let bytes = try await Self.flat(
      [.filter("grain", ["amount": .number(0.2)])], [250, 250, 250, 255],
      size: FrameSize(width: 301, height: 200))
    let greys = stride(from: 0, to: bytes.count, by: 4).map { Int(bytes[$0]) }
    #expect(greys.min() == 200 && greys.max() == 250)
    let mean = Double(greys.reduce(0, +)) / Double(greys.count)
    #expect(abs(mean - 225) < 0.5)
    // Neighbours are uncorrelated.
    let products = zip(greys, greys.dropFirst()).map { (Double($0) - mean) * (Double($1) - mean) }
    let variance = greys.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
    #expect(abs(products.reduce(0, +) / variance) < 0.02)
  }

  @Test func `grain depends on the seed and the frame only`()
    async throws
  {
    func grain(_ seed: Double, _ index: UInt64, mono: Bool = true) async throws -> [UInt8] {
      let stage = Stage.filter(
        "grain", ["amount": .number(1), "seed": .number(seed), "monochrome": .flag(mono)])
      return try await Self.flat(
        [stage], [255, 255, 255, 255], size: FrameSize(width: 4, height: 2), index: index)
    }
    let first = try await grain(1, 9)
    let again = try await grain(1, 9)
    #expect(first == again)
    let otherSeed = try await grain(2, 9)
    let otherFrame = try await grain(1, 10)
    let colored = try await grain(1, 9, mono: false)
    #expect(otherSeed != first && otherFrame != first && colored != first)
    #expect(stride(from: 0, to: 32, by: 4).allSatisfy { first[$0] == first[$0 + 1] })
    #expect(stride(from: 0, to: 32, by: 4).contains { colored[$0] != colored[$0 + 1] })
    // Written down once; another machine, or another row in C, must find the same.
    #expect(stride(from: 0, to: 32, by: 4).map { first[$0] } == Self.golden)
  }

  static let golden: [UInt8] = [168, 71, 88, 118, 210, 218, 141, 227]

  @Test func `a random generator ignores the picture and has independent channels`()
    async throws
  {
    let noise: Pipeline = [.filter("randomGenerator")]
    let size = FrameSize(width: 200, height: 100)
    let bytes = try await Self.flat(noise, [10, 20, 30, 255], size: size)
    #expect(try await Self.flat(noise, [250, 0, 99, 255], size: size) == bytes)
    #expect(stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 })
    let channels = (0 ..< 3).map { channel in
      stride(from: channel, to: bytes.count, by: 4).map { Double(bytes[$0]) - 127.5 }
    }
    for (index, channel) in channels.enumerated() {
      #expect(abs(channel.reduce(0, +)) / 20000 < 2)
      let power = channel.reduce(0) { $0 + $1 * $1 }
      // A uniform distribution's.
      #expect(abs(power / 20000 - 65535.0 / 12) < 200)
      let other = channels[(index + 1) % 3]
      #expect(abs(zip(channel, other).reduce(0) { $0 + $1.0 * $1.1 }) / power < 0.03)
    }
  }

  @Test(arguments: ["vintage", "vintageWarm"])
  func `a vintage look stays opaque and darkens the corners`(_ name: String) async throws {
    let size = FrameSize(width: 160, height: 90)
    let bytes = try await Self.flat([.filter(name)], [180, 180, 180, 255], size: size)
    #expect(stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 })
    let middle = 4 * (45 * 160 + 80)
    #expect(bytes[1] < bytes[middle + 1] - 20)
    let cools = bytes[middle] < bytes[middle + 2]
    #expect(cools == (name == "vintage"))
  }

  @Test func `a vintage look equals its stages`() async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .bgra8, size: FrameSize(width: 97, height: 61)), seed: 2)
    let bench = TestBench()
    let preset = try await bench.run([.filter("vintage")], on: frame, index: 5)
    let stages = try await bench.run(
      [
        Self.adapt(5500, 6500).stages[0],
        .filter("vignette", ["intensity": .number(1.2), "radius": .number(2)]), .filter("grain"),
      ], on: frame, index: 5)
    #expect(preset.samples == stages.samples)
  }

  @Test func `a vignette effect keeps the inside and has full intensity outside`()
    async throws
  {
    let size = FrameSize(width: 200, height: 100)
    let bytes = try await Self.flat(
      [
        .filter(
          "vignetteEffect",
          ["center": .vector([50, 50]), "radius": .number(40), "intensity": .number(0.75)])
      ], [200, 200, 200, 255], size: size)
    func grey(_ x: Int, _ y: Int) -> UInt8 { bytes[4 * (y * 200 + x)] }
    #expect(grey(50, 50) == 200 && grey(65, 50) == 200)
    #expect(grey(150, 50) == 50 && grey(199, 99) == 50)
    #expect(abs(Int(grey(90, 50)) - 125) <= 3)
  }

  @Test func `a poster has the given number of levels`() async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .gray8, size: FrameSize(width: 256, height: 2)), padding: .packed
    ) { _, x, _, _ in UInt8(x) }
    let result = try await TestBench().run(
      [.filter("posterize", ["levels": .number(6)])], on: frame)
    #expect(Set(result.samples[0]).sorted() == [0, 51, 102, 153, 204, 255])
  }

  @Test func `dots are half black at middle grey, and white is white`() async throws {
    let size = FrameSize(width: 120, height: 120)
    func mean(_ grey: UInt8) async throws -> Double {
      let bytes = try await Self.flat(
        [.filter("dotScreen", ["width": .number(12), "sharpness": .number(0.9)])],
        [grey, grey, grey, 255], size: size)
      return stride(from: 0, to: bytes.count, by: 4).reduce(0) { $0 + Double(bytes[$1]) } / 14400
    }
    #expect(try await mean(0) == 0)
    #expect(try await mean(255) == 255)
    #expect(abs(try await mean(128) - 128) < 4)
    #expect(try await mean(64) < mean(128))
  }

  @Test(arguments: ["Noir", "Mono", "Tonal"])
  func `a black and white effect leaves no colour and keeps alpha`(_ name: String) throws {
    let pixel = try Self.color([.filter("photoEffect\(name)")], [0.9, 0.3, 0.1, 0.4])
    #expect(pixel.x == pixel.y && pixel.y == pixel.z && pixel.w == 0.4)
  }

  @Test func `noir has more contrast than tonal, and tonal more than mono`() throws {
    func contrast(_ name: String) throws -> Double {
      let effect: Pipeline = [.filter("photoEffect\(name)")]
      return try Self.color(effect, [0.75, 0.75, 0.75, 1]).x
        - Self.color(effect, [0.25, 0.25, 0.25, 1]).x
    }
    let (noir, tonal, mono) = (
      try contrast("Noir"), try contrast("Tonal"), try contrast("Mono")
    )
    #expect(noir > tonal + 0.1 && tonal > mono && abs(tonal - 0.5) < 0.03)
  }

  @Test func `process is cool and transfer is warm in the midtones`() throws {
    let process = try Self.color([.filter("photoEffectProcess")], [0.4, 0.4, 0.4, 1])
    let transfer = try Self.color([.filter("photoEffectTransfer")], [0.4, 0.4, 0.4, 1])
    #expect(process.z > process.x + 0.05)
    #expect(transfer.x > transfer.z + 0.05)
  }

  @Test(arguments: [
    "Chrome", "Fade", "Instant", "Mono", "Noir", "Process", "Tonal", "Transfer",
  ])
  func `photo effects are monotone on greys`(_ name: String) throws {
    let effect: Pipeline = [.filter("photoEffect\(name)")]
    let greys = try (0 ... 50).map {
      try Self.color(effect, SIMD4(SIMD3(repeating: Double($0) / 50), 1))
    }
    for (darker, lighter) in zip(greys, greys.dropFirst()) {
      #expect(darker.x <= lighter.x && darker.y <= lighter.y && darker.z <= lighter.z)
    }
  }
}
