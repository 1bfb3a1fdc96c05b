/// The mean colours of rows or columns.
private struct LineMeans: PixelReduction {
  let ofRows: Bool

  struct Measurement: Sendable {
    /// The sums per row or column: of red, then of green, blue and alpha, times 2^20.
    var units: [Double]
    var means: [SIMD4<Float>] = []
    /// The number of rows or columns.
    let lines: Int
    /// The pixels of a row or column.
    let count: Int
  }

  func measurement(of size: FrameSize) -> Measurement {
    let lines = self.ofRows ? size.height : size.width
    return Measurement(
      units: Array(repeating: 0, count: 4 * lines), lines: lines, count: size.pixelCount / lines)
  }

  func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
    for channel in 0 ..< 4 {
      let line = channel * measurement.lines + (self.ofRows ? y : x)
      measurement.units[line] += ExactSum.units(pixel[channel])
    }
  }

  func add(_ strip: Strip, isOpaque: Bool, to measurement: inout Measurement) {
    if isOpaque { unsafe strip.alpha.update(repeating: 1, count: strip.count) }
    let lines = measurement.lines
    if self.ofRows {
      let sum = StripStatistics(strip, isOpaque: isOpaque).sum
      for channel in 0 ..< 4 {
        measurement.units[channel * lines + strip.y] += sum.units[channel]
      }
      return
    }
    unsafe measurement.units.withUnsafeMutableBufferPointer { units in
      guard var sums = unsafe units.baseAddress.map({ unsafe $0 + strip.x }) else { return }
      unsafe strip.forEachChannel { values in
        for index in 0 ..< strip.count {
          unsafe sums[index] += ExactSum.units(values[index])
        }
        unsafe sums += lines
      }
    }
  }

  func merge(_ other: Measurement, into measurement: inout Measurement) {
    for index in measurement.units.indices { measurement.units[index] += other.units[index] }
  }

  func finish(_ measurement: inout Measurement) {
    let (units, lines, count) = (measurement.units, measurement.lines, measurement.count)
    measurement.means = (0 ..< lines).map { line in
      var sum = ExactSum()
      for channel in 0 ..< 4 { sum.units[channel] = units[channel * lines + line] }
      return sum.mean(of: count)
    }
  }

  func pixel(
    _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
  ) -> SIMD4<Float> {
    measurement.means[self.ofRows ? y : x]
  }
}

/// The mean colour of each row.
struct RowAverage: CatalogueFilter {
  static let description = FilterDescription(
    name: "rowAverage", summary: "Fills every row with the mean of its colours.",
    category: .reduction, reach: .frame, fidelity: .formula, isCoreImage: true,
    keywords: "statistics stripes lines",
    formula: "The mean of the premultiplied pixels of the row")

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.reduction(LineMeans(ofRows: true), "the means of rows", for: geometry)]
  }
}

/// The mean colour of each column.
struct ColumnAverage: CatalogueFilter {
  static let description = FilterDescription(
    name: "columnAverage", summary: "Fills every column with the mean of its colours.",
    category: .reduction, reach: .frame, fidelity: .formula, isCoreImage: true,
    keywords: "statistics stripes lines",
    formula: "The mean of the premultiplied pixels of the column")

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.reduction(LineMeans(ofRows: false), "the means of columns", for: geometry)]
  }
}
