import BenchmarkSupport
import SidelightKernels

/// A pipeline on frames of one format.
struct Workload {
  let format: PixelFormat
  let alpha: AlphaMode
  let pipeline: Pipeline
  /// The format of the results; by default the frames' format.
  var output: PixelFormat?
  /// The name of another picture than the usual one.
  var variant: String?

  /// The size of the frames.
  static let size = FrameSize(width: 1920, height: 1080)

  init(
    _ format: PixelFormat, alpha: AlphaMode = .opaque, _ pipeline: Pipeline
  ) {
    self.format = format
    self.alpha = alpha
    self.pipeline = pipeline
  }

  init(_ format: PixelFormat, _ filter: String, _ arguments: [String: ParameterValue] = [:]) {
    self.init(format, [.filter(filter, arguments)])
  }

  /// The same on another picture.
  func on(_ variant: String) -> Workload {
    var copy = self
    copy.variant = variant
    return copy
  }

  /// A conversion.
  init(_ format: PixelFormat, to output: PixelFormat) {
    self.init(format, [])
    self.output = output
  }

  /// The plan for the benchmark's frames.
  func plan(_ catalogue: FilterCatalogue) throws -> Plan {
    let geometry = FrameGeometry(
      format: self.format, size: Self.size, color: ColorDescription(alpha: self.alpha))
    return try catalogue.resolve(self.pipeline).plan(
      for: geometry, as: self.output.map { FrameEncoding(format: $0, color: geometry.color) })
  }

  /// The workloads, by the driver's key.
  static let all: [String: Workload] = [
    "matrix-bgra": Workload(.bgra8, "sepiaTone"),
    "matrix-straight": Workload(.bgra8, alpha: .straight, [.filter("sepiaTone")]),
    "matrix-premultiplied": Workload(.bgra8, alpha: .premultiplied, [.filter("sepiaTone")]),
    "matrix-i420": Workload(.i420, "sepiaTone"),
    "matrix-rgb24": Workload(.rgb24, "sepiaTone"),
    "five-bgra": Workload(.bgra8, .fiveStages),
    "five-i420": Workload(.i420, .fiveStages),
    "five-nv12": Workload(.nv12, .fiveStages),
    "chain": Workload(.bgra8, Self.chain),
    "chain-i420": Workload(.i420, Self.chain),
    "glow": Workload(.bgra8, "glow"),
    "glow-i420": Workload(.i420, "glow"),
    "kernel-glow": Workload(.bgra8, "kernel", ["source": .text(Self.glow)]),
    "kernel-glow-i420": Workload(.i420, "kernel", ["source": .text(Self.glow)]),
    "vibrance": Workload(.bgra8, "vibrance", ["amount": .number(0.8)]),
    "kernel-vibrance": Workload(.bgra8, "kernel", ["source": .text(Self.vibrance)]),
    "kernel-hole": Workload(.bgra8, "kernel", ["source": .text(Self.hole)]),
    "area-average": Workload(.bgra8, "areaAverage"),
    "area-average-i420": Workload(.i420, "areaAverage"),
    "area-histogram": Workload(.bgra8, "areaHistogram"),
    "area-stops": Workload(.bgra8, "areaLogarithmicHistogram"),
    "area-bounds": Workload(.bgra8, "areaBoundsRed"),
    "column-average": Workload(.bgra8, "columnAverage"),
    "otsu": Workload(.bgra8, "colorThresholdOtsu"),
    "k-means": Workload(.bgra8, "kMeans"),
    "kernel-sobel": Workload(.bgra8, "kernel", ["source": .text(Self.sobel)]),
    "kernel-mean": Workload(.bgra8, "kernel", ["source": .text(Self.mean)]),
    "kernel-swirl": Workload(.bgra8, "kernel", ["source": .text(Self.swirl)]),
    "gaussian10": Workload(.bgra8, "gaussianBlur"),
    "gaussian25": Workload(.bgra8, "gaussianBlur", ["radius": .number(25)]),
    "gaussian10-i420": Workload(.i420, "gaussianBlur"),
    "gaussian10-sepia": Workload(.bgra8, [.filter("gaussianBlur"), .filter("sepiaTone")]),
    "unsharp": Workload(.bgra8, "unsharpMask", ["radius": .number(2.5)]),
    "convolution": Workload(
      .bgra8, "convolution3X3", ["weights": .vector([0, -1, 0, -1, 5, -1, 0, -1, 0])]),
    "curve": Workload(
      .bgra8, "toneCurve", ["point1": .vector([0.25, 0.15]), "point3": .vector([0.75, 0.88])]),
    "balance": Workload(
      .bgra8, "colorBalance",
      ["shadows": .vector([-0.4, 0, 0.5]), "highlights": .vector([0.5, 0.1, -0.4])]),
    "white-balance": Workload(.bgra8, "whiteBalance"),
    "white-balance-i420": Workload(.i420, "whiteBalance"),
    "low-light": Workload(.bgra8, "lowLight").on("dark"),
    "luma-key": Workload(
      .bgra8, alpha: .straight,
      [.filter("lumaKey", ["low": .number(0.25), "high": .number(0.45)])]),
    "motion0": Workload(.bgra8, "motionBlur"),
    "motion30": Workload(.bgra8, "motionBlur", ["angle": .number(0.5236)]),
    "pixellate": Workload(.bgra8, "pixellate", ["scale": .number(12)]),
    "hole": Workload(.bgra8, "holeDistortion"),
    "zoom": Workload(.bgra8, "zoomBlur"),
    "bloom": Workload(.bgra8, "bloom"),
    "median": Workload(.bgra8, "median"),
    "crop": Workload(
      .bgra8, "crop",
      ["origin": .vector([320, 180]), "width": .number(1280), "height": .number(720)]),
    "scale-down": Workload(.bgra8, "scale", ["width": .number(1280)]),
    "scale-up": Workload(.bgra8, "scale", ["width": .number(2560)]),
    "affine": Workload(
      .bgra8, "affineTransform", ["transform": .vector([0.98, 0.2, -0.2, 0.98, 127, -181])]),
    "cube": Workload(.bgra8, "colorCube", ["asset": .text("cube")]),
    "text-i420": Workload(.i420, [Self.plate]),
    "text-bgra": Workload(.bgra8, [Self.plate]),
    "timecode-i420": Workload(
      .i420, "timecode", ["font": .text("dejaVuSans"), "bold": .flag(false), "size": .number(48)]),
    "i420-bgra": Workload(.i420, to: .bgra8),
    "bgra-i420": Workload(.bgra8, to: .i420),
    "nv12-bgra": Workload(.nv12, to: .bgra8),
    "bgra-nv12": Workload(.bgra8, to: .nv12),
    "i420-nv12": Workload(.i420, to: .nv12),
    "rgb24-bgra": Workload(.rgb24, to: .bgra8),
    "bgra-rgb24": Workload(.bgra8, to: .rgb24),
  ]

  /// A name plate that does not change.
  private static let plate = Stage.text(
    text: "Ada Lovelace\nAnalytical Engines", font: .dejaVuSans, size: 54,
    shadowColor: RGBAColor(red: 0, green: 0, blue: 0, alpha: 0.5),
    boxColor: RGBAColor(red: 0, green: 0, blue: 0, alpha: 0.6), margin: FramePoint(x: 54, y: 54))

  /// The kernels from text.
  static let kernels = [Self.glow, Self.vibrance, Self.sobel, Self.mean, Self.swirl, Self.hole]

  /// The filter `glow` as a kernel.
  private static let glow = """
    param intensity: 0.6 in 0..1
    let g = smoothstep(0.5, 1, luma(color)) * intensity
    return mix(color.rgb, vec3(1, 0.95, 0.8), g)
    """

  private static let sobel = """
    let l = luma(sample(-1, -1)) + 2 * luma(sample(-1, 0)) + luma(sample(-1, 1))
    let r = luma(sample(1, -1)) + 2 * luma(sample(1, 0)) + luma(sample(1, 1))
    let u = luma(sample(-1, -1)) + 2 * luma(sample(0, -1)) + luma(sample(1, -1))
    let d = luma(sample(-1, 1)) + 2 * luma(sample(0, 1)) + luma(sample(1, 1))
    return saturate(length(vec2(r - l, d - u)))
    """

  /// The filter `vibrance` as a kernel.
  private static let vibrance = """
    let high = max(color.r, max(color.g, color.b))
    let low = min(color.r, min(color.g, color.b))
    let ratio = (color.g - color.b) / max(color.r - color.b, 0.000001)
    let isSkin = color.r >= color.g && color.g >= color.b
    let skin = isSkin ? 0.75 * max(0, 1 - 2.5 * abs(ratio - 0.45)) : 0
    let y = luma(color)
    return y + max(0, 1 + 0.8 * (1 - saturate(high - low)) * (1 - skin)) * (color.rgb - y)
    """

  /// The filter `holeDistortion` as a kernel, without its hole.
  private static let hole = """
    let d = position - size / 2
    let ratio = 150 / max(length(d), 75)
    warp size / 2 + d * (1 - ratio * ratio)
    """

  private static let mean = """
    var sum = vec3(0)
    for y in -1...1 { for x in -1...1 { sum += sample(x, y).rgb } }
    return sum / 9
    """

  private static let swirl = """
    let d = position - size / 2
    warp size / 2 + rotate(d, 3 * (1 - smoothstep(0, size.y / 2, length(d))))
    """

  /// A curve, a look and a custom kernel, which do not fold.
  private static let chain: Pipeline = [
    .filter("gammaAdjust", ["power": .number(0.8)]), .filter("glow"), .filter("solarize"),
  ]
}
