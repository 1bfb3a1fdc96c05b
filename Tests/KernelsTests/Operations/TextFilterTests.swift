import SidelightKernelLanguage
import SidelightKernels
import SidelightText
import Synchronization
import Testing

/// A renderer without fonts: it draws a rectangle with a gradient of colour and alpha, whose place
/// and pixels depend on the text.
final class PatternRenderer: TextRenderer {
  private let texts = Mutex<[String]>([])

  /// The texts that were drawn.
  var drawn: [String] { self.texts.withLock { $0 } }

  /// The handle of an unparsed font; reports its release.
  final class Handle: FontHandle {
    private let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void = {}) {
      self.onRelease = onRelease
    }

    deinit { self.onRelease() }
  }

  func unavailability(of font: BundledFont) -> String? {
    font == .notoSerif ? "which is not here" : nil
  }

  func render(_ text: TextRequest) throws(TextError) -> TextCaption? {
    self.texts.withLock { $0.append(text.text) }
    if text.text == "impossible" { throw TextError("it is impossible") }
    let frame = text.placement.frame
    let x = min(3, frame.width - 1)
    let size = FrameSize(
      width: min(17, frame.width - x), height: min(9 + text.text.utf8.count % 4, frame.height))
    var pixels: [UInt8] = []
    for y in 0 ..< size.height {
      for x in 0 ..< size.width {
        let alpha = (x * 29 + y * 53) % 511 > 255 ? 255 : (x * 29 + y * 53) % 256
        let color = [x * 14, y * 25, text.text.utf8.count * 9].map { $0 % 256 * alpha / 255 }
        pixels += (color + [alpha]).map { UInt8($0) }
      }
    }
    return TextCaption(x: x, y: frame.height - size.height, size: size, pixels: pixels)
  }
}

/// Texts with a renderer that needs no fonts.
@Suite("Texts on frames") struct TextFilterTests {
  private static func bench() -> (TestBench, PatternRenderer) {
    let renderer = PatternRenderer()
    var bench = TestBench()
    bench.catalogue.registerText(renderer)
    return (bench, renderer)
  }

  private static let pipelines: [Pipeline] = [
    [.text(text: "name")],
    [.text(text: "name", opacity: 0.4)],
    [.sepiaTone(), .text(text: "name"), .colorInvert()],
    [.text(text: "name").mix(0.3)],
    [.text(text: "name").region(4, 2, .width(0.5), .height(0.7))],
    [.text(text: "one"), .timecode(), .text(text: "three")],
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `texts are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    let (bench, _) = Self.bench()
    // Frames between two stages are rounded.
    let tolerance = pipeline.stages.count == 1 ? 1.0 : 2.0
    for color in FilterOracleTests.colors(format) {
      for (index, size) in FilterOracleTests.sizes.enumerated() {
        let geometry = FrameGeometry(format: format, size: size, color: color)
        let padding = TestFrame.Padding.allCases[index % 3]
        let frame = try TestFrame.make(geometry, seed: UInt64(index), padding: padding)
        let result = try await bench.run(pipeline, on: frame)
        let worst = result.worstDifference(from: try bench.reference(pipeline, on: frame))
        #expect(worst <= tolerance, "\(size) \(color) \(padding)")
        #expect(result.geometry == geometry)
      }
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `pixels outside the text keep their bytes`(_ format: PixelFormat) async throws {
    let (bench, _) = Self.bench()
    let geometry = FrameGeometry(format: format, size: FrameSize(width: 60, height: 40))
    let frame = try TestFrame.make(geometry)
    let result = try await bench.run([.text(text: "name")], on: frame)
    // The pattern is below row 27 and left of column 20.
    for plane in 0 ..< format.planeCount {
      let rows = plane == 0 || !format.isYUV ? 27 : 13
      for y in 0 ..< rows { #expect(frame.bytes(y, plane) == result.bytes(y, plane)) }
    }
    #expect(frame.bytes(39, 0) != result.bytes(39, 0))
  }

  @Test func `a constant text is drawn once, when the plan is compiled`() async throws {
    let (bench, renderer) = Self.bench()
    let frame = try TestFrame.make(Self.geometry)
    let plan = try bench.catalogue.resolve([.text(text: "{{name}}")]).plan(for: frame.geometry)
    #expect(renderer.drawn == ["{name}"])
    for _ in 0 ..< 3 { _ = try await bench.executor.run(plan, on: frame) }
    #expect(renderer.drawn.count == 1)
  }

  @Test func `a text is drawn when it changes, and kept for other frames`() async throws {
    let (bench, renderer) = Self.bench()
    let frame = try TestFrame.make(Self.geometry)
    let pipeline: Pipeline = [.text(text: "{capture_time:%S} {tag:place}")]
    let plan = try bench.catalogue.resolve(pipeline).plan(for: frame.geometry)
    for milliseconds in [0, 400, 999, 1000, 1500, 300] as [Int64] {
      _ = try await bench.executor.run(
        plan, on: frame, scene: nil,
        details: FrameDetails(
          captureNanoseconds: milliseconds * 1_000_000, tags: ["place": "here"]))
    }
    #expect(renderer.drawn == ["00 \u{2068}here\u{2069}", "01 \u{2068}here\u{2069}"])
  }

  @Test func `numbers of frames are drawn for each frame and not kept`() async throws {
    let (bench, renderer) = Self.bench()
    let frame = try TestFrame.make(Self.geometry)
    let plan = try bench.catalogue.resolve([.text(text: "{sequence:3}")])
      .plan(for: frame.geometry)
    for sequence in [7, 8, 7] as [UInt64] {
      _ = try await bench.executor.run(
        plan, on: frame, scene: nil, details: FrameDetails(sequence: sequence))
    }
    #expect(renderer.drawn == ["007", "008", "007"])
  }

  @Test func `a text after another filter draws on that filter's memory`() async throws {
    let (bench, _) = Self.bench()
    let frame = try TestFrame.make(Self.geometry)
    let once = try await bench.run([.sepiaTone(), .text(text: "name")], on: frame)
    let sepia = try await bench.run([.sepiaTone()], on: frame)
    let twice = try await bench.run([.text(text: "name")], on: sepia)
    for plane in 0 ..< frame.format.planeCount {
      for y in 0 ..< frame.format.rowCount(plane: plane, height: frame.size.height) {
        #expect(once.bytes(y, plane) == twice.bytes(y, plane))
      }
    }
  }

  @Test func `a text that cannot be drawn fails its frames and names the reason`() async throws {
    let (bench, _) = Self.bench()
    let frame = try TestFrame.make(Self.geometry)
    await #expect(throws: TextError("it is impossible")) {
      try await bench.run([.text(text: "impossible")], on: frame)
    }
  }

  @Test func `settings that cover nothing return the frame unchanged`() throws {
    let (bench, _) = Self.bench()
    let plan = try bench.catalogue.resolve([.text(text: "name", opacity: 0)])
      .plan(for: Self.geometry)
    #expect(plan.isIdentity)
  }

  @Test(arguments: [1e-300, 1e-60, 1e-46, 1e-45, 1e-44, 1e-40, 1e-30, 1e-9])
  func `the smallest opacities leave a clear frame clear`(_ opacity: Double) async throws {
    let (bench, _) = Self.bench()
    for text in ["name", "{label}"] {
      for alpha in [AlphaMode.straight, .premultiplied] {
        var geometry = FrameGeometry(format: .rgba8, size: FrameSize(width: 40, height: 30))
        geometry.color.alpha = alpha
        let frame = try TestFrame.flat(geometry, 0)
        let result = try await bench.run([.text(text: text, opacity: opacity)], on: frame)
        for y in 0 ..< 30 {
          let row = result.bytes(y, 0)
          #expect(stride(from: 3, to: row.count, by: 4).allSatisfy { row[$0] == 0 })
        }
      }
    }
  }

  @Test(arguments: [
    (Int64.min, "1677-09-21 00:12:43.145224 -9223372037"),
    (.max, "2262-04-11 23:47:16.854775 9223372036"), (-1, "1969-12-31 23:59:59.999999 -1"),
    (-1_000_000_000, "1969-12-31 23:59:59.000000 -1"), (0, "1970-01-01 00:00:00.000000 0"),
  ])
  func `every capture time has a text`(_ nanoseconds: Int64, _ expected: String) throws {
    let details = FrameDetails(captureNanoseconds: nanoseconds)
    let template = try TextTemplate("{capture_time:%F %T.%f %s}")
    #expect(template.text(of: details, utcOffset: 0) == expected)
    for utcOffset in [-64800, 64800] {
      #expect(!template.text(of: details, utcOffset: utcOffset).isEmpty)
    }
    for form in [Timecode.Form.frames, .dropFrame, .milliseconds] {
      let code = Timecode(form: form, source: .captureTime, rate: 29.97)
      #expect(code.text(of: details).count >= 11)
    }
  }

  /// Ends only when all fonts are released.
  @Test(.timeLimit(.minutes(1)))
  func `kept texts do not retain an uploaded font`() async throws {
    var (bench, renderer) = Self.bench()
    let frame = try TestFrame.make(Self.geometry)
    for count in 1 ... 3 {
      let (releases, release) = AsyncStream<Void>.makeStream()
      let font = FontAsset(
        family: "Brand", style: "Book", glyphCount: 1,
        handle: PatternRenderer.Handle { release.finish() })
      bench.catalogue.assets = AssetStore(["brand": .font(consume font)])
      for _ in 0 ..< 2 {
        _ = try await bench.run([.text(text: "{label}", fontAsset: "brand")], on: frame)
      }
      bench.catalogue.assets = AssetStore([:])
      // A thread of the pool may still release its last work.
      for await _ in releases {}
      // Another font may have the place in memory of the one before; its texts are its own.
      #expect(renderer.drawn.count == count)
    }
  }

  @Test(arguments: [
    ("{sequenze}", "text has an unknown field {sequenze}", "sequence"),
    ("a {label", "text has a \"{\" without \"}\"; a brace is written \"{{\" at character 3", nil),
    ("a}", "text has a \"}\" without \"{\"; a brace is written \"}}\" at character 2", nil),
    ("{capture_time:%Q}", "the unknown conversion \"%Q\"", nil),
    ("{tag}", "text has {tag} without a key", nil),
    ("{sequence:99}", "must be 1 to 20", nil),
  ])
  func `templates with errors are refused with the position`(
    _ text: String, _ message: String, _ suggestion: String?
  ) throws {
    let (bench, _) = Self.bench()
    let error = #expect(throws: PipelineError.self) {
      try bench.catalogue.resolve([.text(text: text)])
    }
    #expect(error?.path == "stages[0].filter.parameters[\"text\"]")
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.suggestion == suggestion)
  }

  @Test func `fonts that are not installed are refused with another one`() throws {
    let (bench, _) = Self.bench()
    let error = #expect(throws: PipelineError.self) {
      try bench.catalogue.resolve([.text(text: "name", font: .notoSerif)])
    }
    #expect(error?.path == "stages[0].filter.parameters[\"font\"]")
    #expect(error?.message == "font is notoSerif, which is not here")
    #expect(error?.suggestion == "inter")
  }

  @Test func `drop-frame timecode needs a rate that drops frames`() throws {
    let (bench, _) = Self.bench()
    _ = try bench.catalogue.resolve([.timecode(format: .dropFrame, rate: 29.97)])
    #expect(throws: PipelineError.self) {
      try bench.catalogue.resolve([.timecode(format: .dropFrame, rate: 25)])
    }
  }

  @Test func `without a renderer the filters are described and not available`() throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerText(unavailable: "no font is installed")
    #expect(catalogue.description(named: "text") == nil)
    #expect(catalogue.unavailableFilter(named: "text") != nil)
    let error = #expect(throws: PipelineError.self) {
      try catalogue.resolve([.text(text: "name")])
    }
    #expect(error?.code == .unavailableFilter)
  }

  private static let geometry = FrameGeometry(
    format: .i420, size: FrameSize(width: 64, height: 48))
}

extension Frame {
  /// The samples of a row.
  fileprivate func bytes(_ y: Int, _ plane: Int) -> [UInt8] {
    self.withRow(y, plane: plane) { row in
      (0 ..< row.byteCount).map { unsafe row.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
  }
}
