import SidelightCodecs
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

/// Neighbourhood filters in linear light on formats whose chroma 2x2 pixels share, compared with
/// the same filters on the same picture as RGB.
@Suite("Linear light on shared chroma") struct LinearLightTests {
  private static func linear(_ stages: Stage...) -> Pipeline {
    Pipeline(stages: stages, workingSpace: .sRGBLinear)
  }

  private static let blur = Stage.filter("gaussianBlur", ["radius": .number(3)])

  /// Filters whose results lie between their inputs.
  static let averages: [Pipeline] = [
    Self.linear(Self.blur),
    Self.linear(.filter("gaussianBlur", ["radius": .number(12)])),
    Self.linear(.filter("boxBlur", ["radius": .number(2.5)])),
    Self.linear(.filter("motionBlur", ["radius": .number(4), "angle": .number(0.6)])),
    Self.linear(.filter("zoomBlur")),
    Self.linear(.filter("pixellate", ["scale": .number(5)])),
    Self.linear(.filter("twirlDistortion", ["radius": .number(40)])),
    Self.linear(.filter("scale", ["width": .number(61)])),
    Self.linear(
      .filter("affineTransform", ["transform": .vector([0.8, 0.3, -0.3, 0.8, 9, 4])])),
    Self.linear(
      .filter(
        "convolution3X3", ["weights": .vector([1, 2, 1, 2, 4, 2, 1, 2, 1].map { $0 / 16 })])),
    Self.linear(.filter("exposureAdjust", ["ev": .number(-0.5)]), Self.blur),
    Self.linear(Stage(Self.blur.content, mix: 0.5)),
    [
      Stage(.pipeline(Self.linear(Self.blur)), mix: 0.7),
      .filter("colorControls", ["saturation": .number(0.5)]),
    ],
  ]

  /// Filters that exaggerate, and so magnify rounding errors.
  static let others: [Pipeline] = [
    Self.linear(.filter("unsharpMask", ["radius": .number(2)])),
    Self.linear(.filter("bloom", ["radius": .number(3), "intensity": .number(1)])),
    Self.linear(.filter("gloom", ["radius": .number(3), "intensity": .number(1)])),
    Self.linear(.filter("convolution3X3", ["weights": .vector([0, -1, 0, -1, 5, -1, 0, -1, 0])])),
    Self.linear(.filter("sharpenLuminance")),
    Self.linear(.filter("median")),
    Self.linear(.filter("noiseReduction")),
  ]

  @Test(arguments: Self.averages + Self.others, [PixelFormat.i420, .nv12])
  func `luma is that of the picture filtered as RGB`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    for frame in try await Self.pictures(format) {
      let result = try await Self.run(pipeline, on: frame)
      let resolved = try FilterCatalogue.builtIn.resolve(pipeline)
      let rgb = ReferenceInterpreter().apply(
        resolved, to: ReferencePicture(frame).converted(to: Self.encoding(.rgb24)))
      let expected = rgb.converted(to: Self.encoding(format)).encoded()[0]
      let luma = Self.luma(result)
      let worst = zip(luma, expected).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
      #expect(worst <= 2)
      let width = result.size.width
      #expect(Self.combs(luma, width: width) <= Self.combs(expected, width: width) * 1.05 + 0.1)
    }
  }

  @Test(arguments: Self.averages, [PixelFormat.i420, .nv12])
  func `luma is that of an RGB24 frame that is filtered and converted`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    for frame in try await Self.pictures(format) {
      let luma = Self.luma(try await Self.run(pipeline, on: frame))
      let rgb = try await Self.run([], on: frame, as: .rgb24)
      let filtered = try await Self.run(pipeline, on: rgb)
      let expected = Self.luma(try await Self.run([], on: filtered, as: format))
      let width = filtered.size.width
      // The RGB24 frame is clamped before, and rounded once more.
      let off = zip(luma, expected).count { abs(Int($0) - Int($1)) > 3 }
      #expect(Double(off) <= 0.001 * Double(luma.count))
      #expect(Self.combs(luma, width: width) <= Self.combs(expected, width: width) * 1.05 + 0.1)
    }
  }

  /// The mean magnitude of the second difference along rows, which measures the alternation of
  /// neighbours.
  private static func combs(_ luma: [UInt8], width: Int) -> Double {
    var sum = 0
    for index in luma.indices where (1 ..< width - 1).contains(index % width) {
      sum += abs(Int(luma[index - 1]) - 2 * Int(luma[index]) + Int(luma[index + 1]))
    }
    return Double(sum) / Double(luma.count)
  }

  private static func luma(_ frame: Frame) -> [UInt8] {
    (0 ..< frame.size.height).flatMap { y in
      frame.withRow(y) { row in
        (0 ..< frame.size.width).map { unsafe row.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
      }
    }
  }

  private static func encoding(_ format: PixelFormat) -> FrameEncoding {
    FrameEncoding(format: format, color: ColorDescription(range: .full, alpha: .opaque))
  }

  private static let compute = ComputePool(threadCount: 2)

  private static func run(
    _ pipeline: Pipeline, on frame: Frame, as format: PixelFormat? = nil
  ) async throws -> Frame {
    let plan = try FilterCatalogue.builtIn.resolve(pipeline).plan(
      for: frame.geometry, as: format.map(Self.encoding))
    return try await PlanExecutor(pool: BufferPool(), compute: Self.compute).run(plan, on: frame)
  }

  /// Detailed pictures with even and with odd sides: a mosaic, and part of a photograph where the
  /// environment has one.
  private static func pictures(_ format: PixelFormat) async throws -> [Frame] {
    let size = FrameSize(width: format == .i420 ? 96 : 95, height: format == .i420 ? 64 : 63)
    let mosaic = try await Self.run([], on: try Self.mosaic(size), as: format)
    guard let folder = unsafe getenv("SIDELIGHT_TEST_MEDIA"), unsafe folder.pointee != 0 else {
      return [mosaic]
    }
    let photo = try ImageDecoder(pool: BufferPool()).decode(
      try Golden.read(unsafe String(cString: folder) + "/coffee.png"))
    let crop = Stage.filter(
      "crop",
      [
        "origin": .vector([192, 256]), "width": .number(Double(size.width)),
        "height": .number(Double(size.height)),
      ])
    return [mosaic, try await Self.run([crop], on: photo, as: format)]
  }

  /// Squares of 8 pixels in saturated colours, dark next to bright: at their edges the colour of
  /// linear light differs from pixel to pixel.
  private static func mosaic(_ size: FrameSize) throws -> Frame {
    try DrawnScene.frame(.rgb24, size) { x, y, channel in
      var hash = UInt64(x / 8 * 7919 + y / 8 * 104_729 + 8) &* 0x9E37_79B9_7F4A_7C15
      hash = (hash ^ hash >> 29) &* 0xBF58_476D_1CE4_E5B9
      hash ^= hash >> 32
      return hash >> UInt64(channel) & 1 == 1 ? 230 : 15
    }
  }
}
