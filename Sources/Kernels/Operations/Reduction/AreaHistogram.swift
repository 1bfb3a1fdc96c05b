#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The histograms of red, green and blue, as columns of the frame.
private struct ColorHistogram: PixelReduction {
  let count: Int
  /// The factor of the shares.
  let scale: Float
  /// The range of the logarithms to base 2 of values; `nil` for bins of equal width from 0 to 1.
  let stops: ClosedRange<Float>?

  struct Measurement: Sendable {
    var total = 0
    var bins: [SIMD3<Int>]
  }

  func measurement(of size: FrameSize) -> Measurement {
    Measurement(bins: Array(repeating: .zero, count: self.count))
  }

  private func bin(_ value: Float) -> Int {
    let position =
      self.stops.map { stops in
        (log2(max(value, 1e-30)) - stops.lowerBound) / (stops.upperBound - stops.lowerBound)
      } ?? value
    // Values at the edge of two bins are in the upper one, whatever their rounding.
    let bin = max(position, 0) * Float(self.count) + 0.002
    return Int(min(bin, Float(self.count - 1)))
  }

  func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
    measurement.total += 1
    let inverse = pixel.w > 0 ? 1 / pixel.w : 0
    for channel in 0 ..< 3 {
      measurement.bins[self.bin(pixel[channel] * inverse)][channel] += 1
    }
  }

  func merge(_ other: Measurement, into measurement: inout Measurement) {
    measurement.total += other.total
    for index in measurement.bins.indices { measurement.bins[index] &+= other.bins[index] }
  }

  func pixel(
    _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
  ) -> SIMD4<Float> {
    let bin = SIMD3<Float>(measurement.bins[x * self.count / size.width])
    let shares = bin * (self.scale / Float(max(measurement.total, 1)))
    return [shares.x, shares.y, shares.z, 1]
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

/// The histogram of an area.
struct AreaHistogram: CatalogueFilter {
  static let description = FilterDescription.area(
    "areaHistogram", "Shows the histogram of an area as columns: the shares of pixels per level.",
    examples: ["areaHistogram(scale: 15)"],
    formula: """
      Column x shows bin floor(x count / width), from 0 on. Each channel is scale n / N, n the number \
      of the extent's pixels of which the channel c is in the bin floor(c count + .002), N the number of \
      pixels; 1 is in the last bin
      """,
    and: [.binScale, .binCount])

  private let extent: [Double]
  private let histogram: ColorHistogram

  init(_ arguments: Arguments) {
    self.extent = arguments.vector("extent")
    self.histogram = ColorHistogram(
      count: Int(arguments.number("count").rounded()), scale: Float(arguments.number("scale")),
      stops: nil)
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.reduction(self.histogram, of: self.extent, "the histogram of an area", for: geometry)]
  }
}

/// The histogram of an area by photographic stops.
struct AreaLogarithmicHistogram: CatalogueFilter {
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

  private let extent: [Double]
  private let histogram: ColorHistogram

  init(_ arguments: Arguments) {
    self.extent = arguments.vector("extent")
    self.histogram = ColorHistogram(
      count: Int(arguments.number("count").rounded()), scale: Float(arguments.number("scale")),
      stops: Float(arguments.number("minimumStop")) ... Float(arguments.number("maximumStop")))
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.reduction(self.histogram, of: self.extent, "the histogram of an area", for: geometry)]
  }
}
