import CKernels

/// The numbers of pixels per bin, of which the first begins at 0 and the last at 1 - 1 / count.
struct BinCounts: Sendable {
  enum Channel: Int {
    case red, green, blue, luma
  }

  let count: Int
  /// The pixels of strips.
  private var counts: [UInt32]
  /// The other pixels.
  private var weights: [Int]

  init(_ count: Int) {
    self.count = count
    self.counts = Array(repeating: 0, count: 4 * count)
    self.weights = Array(repeating: 0, count: 4 * count)
  }

  /// The pixels of a bin, times 255 if they are weighed by alpha.
  subscript(bin: Int, channel: Channel) -> Int {
    get {
      let index = channel.rawValue * self.count + bin
      return Int(self.counts[index]) + self.weights[index]
    }
    set { self.weights[channel.rawValue * self.count + bin] = newValue }
  }

  /// Counts the pixels of a strip, and overwrites them. Values within `margin` bins below a bin are
  /// in it.
  mutating func add(_ strip: Strip, margin: Float) {
    let shift = margin / Float(self.count)
    unsafe strip.forEachColor { values in
      for index in 0 ..< strip.count { unsafe values[index] += shift }
    }
    let count = self.count
    var clipped = sl_clipped(low: 0, high: 0)
    unsafe self.counts.withUnsafeMutableBufferPointer { counts in
      unsafe sl_rows_current().pointee.count_colors(
        strip.red, strip.green, strip.blue, strip.count, count,
        counts.baseAddress.unsafelyUnwrapped, &clipped)
    }
  }

  mutating func merge(_ other: Self) {
    for index in self.counts.indices {
      self.counts[index] += other.counts[index]
      self.weights[index] += other.weights[index]
    }
  }
}

/// The histograms of red, green and blue, as columns of the frame.
private struct ColorHistogram: PixelReduction {
  let count: Int
  /// The factor of the shares.
  let scale: Float
  /// The range of the logarithms to base 2 of values; `nil` for bins of equal width from 0 to 1.
  var stops: ClosedRange<Float>?
  /// Whether pixels count by their alpha, with their straight colours.
  var weighsAlpha = false

  /// Values at the edge of two bins are in the upper one, whatever their rounding.
  private static let margin: Float = 0.002
  /// The weight of an opaque pixel.
  private static let opaque: Float = 255

  struct Measurement: Sendable {
    var total = 0
    var counts: BinCounts
  }

  func measurement(of size: FrameSize) -> Measurement {
    Measurement(counts: BinCounts(self.count))
  }

  /// Returns the position of a value: 0 is the first bin's beginning, 1 the last one's end.
  @inline(__always)
  private func position(_ value: Float) -> Float {
    guard let stops = self.stops else { return value }
    return (log2f(max(1e-30, value)) - stops.lowerBound) / (stops.upperBound - stops.lowerBound)
  }

  func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
    var (color, weight) = (pixel, 1)
    if self.weighsAlpha {
      weight = Int((min(max(0, pixel.w), 1) * Self.opaque).rounded())
      color = pixel.w > 0 ? pixel / pixel.w : .zero
    }
    measurement.total += weight
    for channel in [BinCounts.Channel.red, .green, .blue] {
      let position = max(0, self.position(color[channel.rawValue])) * Float(self.count)
      let bin = Int(min(position + Self.margin, Float(self.count - 1)))
      measurement.counts[bin, channel] += weight
    }
  }

  func add(_ strip: Strip, isOpaque: Bool, to measurement: inout Measurement) {
    if self.weighsAlpha {
      for index in 0 ..< strip.count {
        let pixel = strip.pixel(index, isOpaque: isOpaque)
        self.add(pixel, x: strip.x + index, y: strip.y, to: &measurement)
      }
      return
    }
    measurement.total += strip.count
    if self.stops != nil {
      unsafe strip.forEachColor { values in
        for index in 0 ..< strip.count { unsafe values[index] = self.position(values[index]) }
      }
    }
    measurement.counts.add(strip, margin: Self.margin)
  }

  func merge(_ other: Measurement, into measurement: inout Measurement) {
    measurement.total += other.total
    measurement.counts.merge(other.counts)
  }

  func pixel(
    _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
  ) -> SIMD4<Float> {
    let bin = x * self.count / size.width
    let scale = self.scale / Float(max(measurement.total, 1))
    func share(_ channel: BinCounts.Channel) -> Float {
      Float(measurement.counts[bin, channel]) * scale
    }
    return [share(.red), share(.green), share(.blue), 1]
  }
}

extension ParameterDescription {
  fileprivate static let binCount = ParameterDescription(
    "count", .number, default: .number(64), slider: 1 ... 256, limits: 1 ... 2048,
    "The whole number of bins.")

  fileprivate static let binScale = ParameterDescription(
    "scale", .number, default: .number(1), slider: 0 ... 50, limits: 0 ... 1000,
    "The factor of the shares of pixels.")
}

/// A filter that shows the histogram of an area.
private protocol HistogramFilter: ArgumentFilter {
  var histogram: ColorHistogram { get }
}

extension HistogramFilter {
  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [
      .reduction(
        self.histogram, of: self.arguments, "the histogram of an area", for: geometry)
    ]
  }
}

extension ColorHistogram {
  fileprivate init(_ arguments: Arguments) {
    self.init(
      count: Int(arguments.number("count").rounded()), scale: Float(arguments.number("scale")))
  }
}

/// The histogram of an area.
struct AreaHistogram: HistogramFilter {
  static let description = FilterDescription.area(
    "areaHistogram", "Shows the histogram of an area as columns: the shares of pixels per level.",
    examples: ["areaHistogram(scale: 15)"],
    formula: """
      Column x shows bin floor(x count / width), from 0 on. Each channel is scale n / N, n the number \
      of the extent's pixels of which the premultiplied channel c is in the bin floor(c count + .002), N \
      the number of pixels; 1 is in the last bin
      """,
    and: [.binScale, .binCount])

  let arguments: Arguments

  fileprivate var histogram: ColorHistogram { ColorHistogram(self.arguments) }
}

/// The histogram of an area by alpha.
struct AreaAlphaWeightedHistogram: HistogramFilter {
  static let description = FilterDescription.area(
    "areaAlphaWeightedHistogram",
    "Shows the histogram of an area as columns, with pixels that count by their alpha.",
    examples: ["areaAlphaWeightedHistogram(scale: 15)"],
    formula: """
      areaHistogram of straight colours, with n and N sums of round(255 alpha); equal to areaHistogram \
      on opaque pictures
      """,
    and: [.binScale, .binCount])

  let arguments: Arguments

  fileprivate var histogram: ColorHistogram {
    var histogram = ColorHistogram(self.arguments)
    histogram.weighsAlpha = true
    return histogram
  }
}

/// The histogram of an area by photographic stops.
struct AreaLogarithmicHistogram: HistogramFilter {
  static let description = FilterDescription.area(
    "areaLogarithmicHistogram",
    "Shows the histogram of an area as columns, with bins of equal ratios: the shares of pixels per stop.",
    examples: ["areaLogarithmicHistogram(scale: 15, maximumStop: 1)"],
    formula: """
      areaHistogram with the channel c in the bin floor(count (log2 c - minimumStop) / (maximumStop - \
      minimumStop) + .002); values below the range are in the first bin, above it in the last
      """,
    and: [
      .binScale, .binCount,
      ParameterDescription(
        "minimumStop", .number, default: .number(-10), slider: -20 ... 0, limits: -100 ... 0,
        unit: .stops, "The logarithm to base 2 of the first bin's values."),
      ParameterDescription(
        "maximumStop", .number, default: .number(4), slider: 1 ... 10, limits: 1 ... 100,
        unit: .stops, "The logarithm to base 2 of the last bin's values."),
    ])

  let arguments: Arguments

  fileprivate var histogram: ColorHistogram {
    let (low, high) = (
      self.arguments.number("minimumStop"), self.arguments.number("maximumStop")
    )
    var histogram = ColorHistogram(self.arguments)
    histogram.stops = Float(low) ... Float(high)
    return histogram
  }
}
