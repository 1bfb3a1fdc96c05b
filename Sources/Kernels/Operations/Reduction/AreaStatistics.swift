/// Sums, minima and maxima of the channels of an area, which fill the frame.
struct AreaStatistics: PixelReduction {
  struct Measurement: Sendable {
    var count = 0
    var sum = ExactSum()
    var low = SIMD4<Float>(repeating: .infinity)
    var high = SIMD4<Float>(repeating: -.infinity)
    /// The pixels of the least and of the greatest alpha; the first in reading order.
    var clearest = SIMD4<Float>(repeating: .infinity)
    var clearestIndex = Int.max
    var densest = SIMD4<Float>(repeating: -.infinity)
    var densestIndex = Int.max
    /// The result's left and right half.
    var left = SIMD4<Float>.zero
    var right = SIMD4<Float>.zero

    var mean: SIMD4<Float> { self.sum.mean(of: self.count) }
  }

  /// Returns the pixels of the frame: on its left half, and on its right half.
  let color: @Sendable (Measurement) -> (left: SIMD4<Float>, right: SIMD4<Float>)

  func measurement(of size: FrameSize) -> Measurement { Measurement() }

  func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
    measurement.count += 1
    measurement.sum += pixel
    measurement.low.replace(with: pixel, where: pixel .< measurement.low)
    measurement.high.replace(with: pixel, where: pixel .> measurement.high)
    // Frames have fewer than 2^32 columns.
    Self.choose(pixel, pixel, at: y << 32 + x, in: &measurement)
  }

  func add(_ strip: Strip, isOpaque: Bool, to measurement: inout Measurement) {
    let found = StripStatistics(strip, isOpaque: isOpaque)
    measurement.count += strip.count
    measurement.sum += found.sum
    measurement.low.replace(with: found.low, where: found.low .< measurement.low)
    measurement.high.replace(with: found.high, where: found.high .> measurement.high)
    // Strips are added in reading order.
    for index in 0 ..< strip.count
    where found.low.w < measurement.clearest.w || found.high.w > measurement.densest.w {
      let pixel = strip.pixel(index, isOpaque: isOpaque)
      Self.choose(pixel, pixel, at: strip.y << 32 + strip.x + index, in: &measurement)
    }
  }

  func replace(
    _ strip: Strip, isOpaque: Bool, of size: FrameSize, by measurement: Measurement
  ) {
    let left = min(max((size.width + 1) / 2 - strip.x, 0), strip.count)
    strip.fill(0 ..< left, with: measurement.left, isOpaque: isOpaque)
    strip.fill(left ..< strip.count, with: measurement.right, isOpaque: isOpaque)
  }

  func merge(_ other: Measurement, into measurement: inout Measurement) {
    measurement.count += other.count
    measurement.sum += other.sum
    measurement.low.replace(with: other.low, where: other.low .< measurement.low)
    measurement.high.replace(with: other.high, where: other.high .> measurement.high)
    Self.choose(
      other.clearest, .init(repeating: -.infinity), at: other.clearestIndex, in: &measurement)
    Self.choose(
      .init(repeating: .infinity), other.densest, at: other.densestIndex, in: &measurement)
  }

  /// Keeps the pixel with the least alpha, and the one with the greatest.
  @inline(__always)
  private static func choose(
    _ clear: SIMD4<Float>, _ dense: SIMD4<Float>, at index: Int,
    in measurement: inout Measurement
  ) {
    if clear.w < measurement.clearest.w
      || clear.w == measurement.clearest.w && index < measurement.clearestIndex
    {
      (measurement.clearest, measurement.clearestIndex) = (clear, index)
    }
    if dense.w > measurement.densest.w
      || dense.w == measurement.densest.w && index < measurement.densestIndex
    {
      (measurement.densest, measurement.densestIndex) = (dense, index)
    }
  }

  func finish(_ measurement: inout Measurement) {
    (measurement.left, measurement.right) = self.color(measurement)
  }

  func pixel(
    _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
  ) -> SIMD4<Float> {
    2 * x < size.width ? measurement.left : measurement.right
  }
}

/// A filter that fills the frame with a measurement of an area.
protocol AreaFilter: ArgumentFilter {
  /// Returns the colour, premultiplied.
  static func color(of measurement: AreaStatistics.Measurement) -> SIMD4<Float>
}

extension AreaFilter {
  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let reduction = AreaStatistics { measurement in
      let color = Self.color(of: measurement)
      return (color, color)
    }
    return [.reduction(reduction, of: self.arguments, Self.description.summary, for: geometry)]
  }
}

extension FilterDescription {
  /// A filter that measures an area.
  static func area(
    _ name: String, _ summary: String, examples: [String] = [], formula: String,
    and parameters: [ParameterDescription] = []
  ) -> FilterDescription {
    FilterDescription(
      name: name, summary: summary, category: .reduction, reach: .frame, fidelity: .formula,
      isCoreImage: true, keywords: "statistics measure", examples: examples,
      formula: formula,
      parameters: [
        ParameterDescription(
          "extent", .vector(count: 4), default: .vector([0, 0, 0, 0]), slider: 0 ... 1920,
          limits: -16384 ... 16384,
          """
          The area: left, top, width and height in pixels; without pixels of the frame, the whole \
          frame.
          """)
      ] + parameters)
  }
}

/// The mean colour of an area.
struct AreaAverage: AreaFilter {
  static let description = FilterDescription.area(
    "areaAverage", "Fills the frame with the mean colour of an area.",
    formula: "The mean of the pixels of extent, premultiplied")
  let arguments: Arguments
  static func color(of found: AreaStatistics.Measurement) -> SIMD4<Float> { found.mean }
}

/// The greatest values of an area.
struct AreaMaximum: AreaFilter {
  static let description = FilterDescription.area(
    "areaMaximum", "Fills the frame with the greatest value of each channel in an area.",
    formula: "The maximum of each channel of the pixels of extent, premultiplied")
  let arguments: Arguments
  static func color(of found: AreaStatistics.Measurement) -> SIMD4<Float> { found.high }
}

/// The least values of an area.
struct AreaMinimum: AreaFilter {
  static let description = FilterDescription.area(
    "areaMinimum", "Fills the frame with the least value of each channel in an area.",
    formula: "The minimum of each channel of the pixels of extent, premultiplied")
  let arguments: Arguments
  static func color(of found: AreaStatistics.Measurement) -> SIMD4<Float> { found.low }
}

/// The least and greatest values of an area.
struct AreaMinMax: AreaFilter {
  static let description = FilterDescription.area(
    "areaMinMax",
    "Fills the left half of the frame with the least values of an area, the right with the greatest.",
    formula: """
      areaMinimum where the column is less than half the width, areaMaximum elsewhere: Core Image's \
      two pixels
      """)
  let arguments: Arguments
  static func color(of found: AreaStatistics.Measurement) -> SIMD4<Float> { found.low }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let reduction = AreaStatistics { ($0.low, $0.high) }
    return [.reduction(reduction, of: self.arguments, Self.description.summary, for: geometry)]
  }
}

/// The least and the greatest red of an area.
struct AreaMinMaxRed: AreaFilter {
  static let description = FilterDescription.area(
    "areaMinMaxRed",
    "Fills the frame with the least red of an area as its red, and the greatest as its green.",
    formula: "(min r, max r, 0) of the premultiplied pixels of extent; opaque")
  let arguments: Arguments
  static func color(of found: AreaStatistics.Measurement) -> SIMD4<Float> {
    [found.low.x, found.high.x, 0, 1]
  }
}

/// The mean and the greatest red of an area.
struct AreaAverageMaximumRed: AreaFilter {
  static let description = FilterDescription.area(
    "areaAverageMaximumRed",
    "Fills the frame with the mean red of an area as its red, and the greatest as its green.",
    formula: "(mean r, max r, 0) of the premultiplied pixels of extent; opaque")
  let arguments: Arguments
  static func color(of found: AreaStatistics.Measurement) -> SIMD4<Float> {
    [found.mean.x, found.high.x, 0, 1]
  }
}

/// The most opaque pixel of an area.
struct AreaMaximumAlpha: AreaFilter {
  static let description = FilterDescription.area(
    "areaMaximumAlpha", "Fills the frame with the most opaque pixel of an area.",
    formula: "The pixel of extent with the greatest alpha, the first in reading order")
  let arguments: Arguments
  static func color(of found: AreaStatistics.Measurement) -> SIMD4<Float> { found.densest }
}

/// The most transparent pixel of an area.
struct AreaMinimumAlpha: AreaFilter {
  static let description = FilterDescription.area(
    "areaMinimumAlpha", "Fills the frame with the most transparent pixel of an area.",
    formula: "The pixel of extent with the least alpha, the first in reading order")
  let arguments: Arguments
  static func color(of found: AreaStatistics.Measurement) -> SIMD4<Float> { found.clearest }
}
