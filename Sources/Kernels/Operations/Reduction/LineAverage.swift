/// The mean colours of rows or columns.
private struct LineMeans: PixelReduction {
  let ofRows: Bool

  struct Measurement: Sendable {
    /// The sums per row or column.
    var sums: [ExactSum]
    var means: [SIMD4<Float>] = []
    /// The pixels of a row or column.
    let count: Int
  }

  func measurement(of size: FrameSize) -> Measurement {
    let lines = self.ofRows ? size.height : size.width
    return Measurement(
      sums: Array(repeating: ExactSum(), count: lines), count: size.pixelCount / lines)
  }

  func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
    measurement.sums[self.ofRows ? y : x] += pixel
  }

  func merge(_ other: Measurement, into measurement: inout Measurement) {
    for index in measurement.sums.indices { measurement.sums[index] += other.sums[index] }
  }

  func finish(_ measurement: inout Measurement) {
    measurement.means = measurement.sums.map { $0.mean(of: measurement.count) }
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
    category: .effect, reach: .frame, fidelity: .formula, isCoreImage: true,
    keywords: "reduction statistics stripes lines",
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
    category: .effect, reach: .frame, fidelity: .formula, isCoreImage: true,
    keywords: "reduction statistics stripes lines",
    formula: "The mean of the premultiplied pixels of the column")

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.reduction(LineMeans(ofRows: false), "the means of columns", for: geometry)]
  }
}
