import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Lookup of assets by pipelines, and the reader of `.cube` files.
@Suite struct AssetTests {
  static func image(_ value: UInt8) throws -> Asset {
    .image(
      try ImageAsset(
        try TestFrame.flat(
          FrameGeometry(format: .gray8, size: FrameSize(width: 2, height: 2)), value)))
  }

  static func overlay(_ name: String) -> Pipeline { [.filter("overlay", ["asset": .text(name)])] }

  @Test func `the error for an unknown asset suggests the nearest`() throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.assets = AssetStore(["moustache": try Self.image(0)])
    let error = #expect(throws: PipelineError.self) {
      try catalogue.resolve(Self.overlay("mustache"))
    }
    #expect(error?.code == .unknownAsset)
    #expect(error?.path == "stages[0].filter.parameters[\"asset\"]")
    #expect(error?.suggestion == "moustache")
    #expect(throws: PipelineError.self) { try FilterCatalogue.builtIn.resolve(Self.overlay("x")) }
    #expect(throws: PipelineError.self) { try catalogue.resolve([.filter("overlay")]) }
    #expect(throws: PipelineError.self) { try catalogue.resolve(Self.overlay("")) }
  }

  @Test func `an asset of another kind is refused`() throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.assets = AssetStore(["photo": try Self.image(0)])
    let error = #expect(throws: PipelineError.self) {
      try catalogue.resolve([.filter("colorCube", ["asset": .text("photo")])])
    }
    #expect(error?.message.contains("is an image, not a colour cube") == true)
  }

  @Test func `a replaced asset makes another pipeline and other plans`() throws {
    let store = AssetStore(["photo": try Self.image(0)])
    var catalogue = FilterCatalogue.builtIn
    catalogue.assets = store
    let first = try catalogue.resolve(Self.overlay("photo"))
    #expect(try catalogue.resolve(Self.overlay("photo")) == first)
    store.put(try Self.image(9), named: "photo")
    #expect(try catalogue.resolve(Self.overlay("photo")) != first)
    store.remove(named: "photo")
    #expect(throws: PipelineError.self) { try catalogue.resolve(Self.overlay("photo")) }
  }

  // MARK: Cube files

  static func read(_ text: String) throws(CubeFileError) -> CubeAsset {
    try CubeFile.read(Array(text.utf8))
  }

  static let swap = """
    # red and blue exchanged
    TITLE "swap # them"
    LUT_3D_SIZE 2
    DOMAIN_MIN 0 0 0
    DOMAIN_MAX 1.0 1 1e0

    0 0 0
    0 0 1
    0 1 0
    0 1 1
    1 0 0\t1_000
    """

  @Test func `a cube file is read with its title and any line endings`() throws {
    let lines = [
      "TITLE \"swap # them\"", "# comment", "LUT_3D_SIZE 2", "", "0 0 0", "0 0 1 # blue", "0 1 0",
      "\t0 1 1", "1 0 0", "1 0 1", "1 1 0", "1 1 1",
    ]
    for end in ["\n", "\r\n", "\r"] {
      let cube = try Self.read(lines.joined(separator: end))
      #expect(cube.title == "swap # them")
      #expect(cube.shape == .cube(size: 2))
      #expect(cube.entries.count == 24 && cube.entries[5] == 1)
    }
  }

  @Test(arguments: [
    ("", 0, "neither LUT_1D_SIZE nor LUT_3D_SIZE"),
    ("LUT_3D_SIZE 1", 1, "the range is 2 ... 129"),
    ("LUT_3D_SIZE 130", 1, "the range is 2 ... 129"),
    ("LUT_3D_SIZE 99999999999999999999", 1, "the range is 2 ... 129"),
    ("LUT_1D_SIZE 65537", 1, "the range is 2 ... 65536"),
    ("LUT_1D_SIZE", 1, "LUT_1D_SIZE is \"\""),
    ("\nLUT_1D_SIZE 2\nLUT_3D_SIZE 2", 3, "a second size"),
    ("0 0 0", 1, "numbers before"),
    ("LUT_1D_SIZE 2\n0 0 0", 0, "has 1 entries; its size requires 2"),
    ("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n1 1 1", 4, "more than the 2 entries"),
    ("LUT_1D_SIZE 2\n0 0 0\n1 1", 3, "2 numbers; there must be 3"),
    ("LUT_1D_SIZE 2\n0 0 0\n1 1 x", 3, "\"x\" is not a number"),
    ("LUT_1D_SIZE 2\n0 0 0\n1 1 nan", 3, "\"nan\" is not a number"),
    ("LUT_1D_SIZE 2\n0 0 0\n1 1 1e30", 3, "\"1e30\" is not a number"),
    ("LUT_1D_SIZE 2\nDOMAIN_MIN 1 0 0\n0 0 0\n1 1 1", 0, "is not below"),
    ("LUT_1D_SIZE 2\nGAMMA 2.2", 2, "GAMMA is not a keyword"),
    ("LUT_3D_INPUT_RANGE 0", 1, "1 numbers; there must be 2"),
  ])
  func `an invalid file is refused with the line`(
    _ text: String, _ line: Int, _ words: String
  ) throws {
    let error = #expect(throws: CubeFileError.self) { try Self.read(text) }
    #expect(error?.line == line)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test func `truncated files and changed bytes do not crash the reader`() throws {
    let bytes = Array(Self.swap.utf8)
    var random = TestRandom(seed: 3)
    for length in 0 ... bytes.count {
      _ = try? CubeFile.read(Array(bytes.prefix(length)))
      var changed = bytes
      changed[Int.random(in: 0 ..< bytes.count, using: &random)] = UInt8.random(
        in: 0 ... 255, using: &random)
      _ = try? CubeFile.read(changed)
    }
    // The sample itself is invalid in its last line.
    #expect(throws: CubeFileError.self) { try CubeFile.read(bytes) }
  }

  // MARK: Lookup

  /// A cube of a function, and a bench that knows it.
  static func bench(
    size: Int, _ color: (SIMD3<Float>) -> SIMD3<Float>, domain: String = ""
  ) throws -> TestBench {
    var lines = ["LUT_3D_SIZE \(size)", domain]
    for index in 0 ..< size * size * size {
      let position = SIMD3(
        Float(index % size), Float(index / size % size), Float(index / size / size))
      let result = color(position / Float(size - 1))
      lines.append("\(result.x) \(result.y) \(result.z)")
    }
    var bench = TestBench()
    bench.catalogue.assets = AssetStore([
      "look": .cube(try Self.read(lines.joined(separator: "\n")))
    ])
    return bench
  }

  static func curve(_ color: SIMD3<Float>) -> SIMD3<Float> {
    [
      color.x * color.x * 0.8 + 0.1 * color.z, color.y.squareRoot() * 0.9,
      0.2 + 0.6 * color.z * (1 - 0.3 * color.x),
    ]
  }

  @Test(arguments: PixelFormat.allCases, [2, 5, 17])
  func `a cube is within a level of the reference`(_ format: PixelFormat, _ size: Int) async throws
  {
    let bench = try Self.bench(size: size, Self.curve)
    try await FormatSweep.compare(
      [.filter("colorCube", ["asset": .text("look")])], format, bench: bench)
    try await FormatSweep.compare(
      [.filter("colorCube", ["asset": .text("look"), "intensity": .number(0.4)])], format,
      bench: bench)
  }

  @Test func `the identity cube of any size changes nothing`() async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 61, height: 43)), seed: 2)
    for size in [2, 3, 17, 33] {
      let result = try await Self.bench(size: size) { $0 }
        .run([.filter("colorCube", ["asset": .text("look")])], on: frame)
      #expect(result.samples == frame.samples)
    }
  }

  @Test func `greys of a neutral cube stay grey, and its corners are exact`() async throws {
    // Trilinear interpolation would leave the diagonal here; along tetrahedra's edges it is kept.
    let bench = try Self.bench(size: 2) { color in
      color.x == color.y && color.y == color.z ? color * 0.5 : [1, 0, 0.3]
    }
    let ramp = try TestFrame.make(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 256, height: 1)), padding: .packed
    ) { _, x, _, _ in UInt8(x) }
    let result = try await bench.run([.filter("colorCube", ["asset": .text("look")])], on: ramp)
    for value in 0 ..< 256 {
      let color = Array(result.samples[0][3 * value ..< 3 * value + 3])
      #expect(color[0] == color[1] && color[1] == color[2])
      #expect(abs(Double(color[0]) - Double(value) / 2) <= 0.51)
    }
    let red = try TestFrame.make(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 4, height: 1)), padding: .packed
    ) { _, _, _, channel in channel == 0 ? 255 : 0 }
    let corner = try await bench.run([.filter("colorCube", ["asset": .text("look")])], on: red)
    #expect(Array(corner.samples[0][0 ..< 3]) == [255, 0, 77])
  }

  @Test func `curves are looked up over their domain`() async throws {
    var bench = TestBench()
    bench.catalogue.assets = AssetStore([
      "look": .cube(
        try Self.read(
          "LUT_1D_SIZE 3\nDOMAIN_MIN 0 0 .2\nDOMAIN_MAX 1 1 .6\n0 1 0\n.25 .5 .5\n1 0 1"))
    ])
    let frame = try TestFrame.make(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 256, height: 1)), padding: .packed
    ) { _, x, _, _ in UInt8(x) }
    let result = try await bench.run([.filter("colorCube", ["asset": .text("look")])], on: frame)
    for value in 0 ..< 256 {
      let x = Double(value) / 255
      let expected = [
        x < 0.5 ? x / 2 : 0.25 + (x - 0.5) * 1.5, 1 - x, min(max((x - 0.2) / 0.4, 0), 1),
      ]
      for channel in 0 ..< 3 {
        let found = Double(result.samples[0][3 * value + channel])
        #expect(abs(found - expected[channel] * 255) <= 0.51)
      }
    }
  }
}
