/// The mean colours of rows or columns.
private struct LineMeans: PixelReduction {
  let ofRows: Bool

  struct Measurement: Sendable {
    /// The sums per row or column in multiples of 2^-20, which are the same in every order.
    var sums: [SIMD4<Int64>]
  }

  func measurement(of size: FrameSize) -> Measurement {
    Measurement(sums: Array(repeating: .zero, count: self.ofRows ? size.height : size.width))
  }

  func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
    measurement.sums[self.ofRows ? y : x] &+= SIMD4<Int64>(
      pixel * 0x1p20, rounding: .toNearestOrEven)
  }

  func merge(_ other: Measurement, into measurement: inout Measurement) {
    for index in measurement.sums.indices { measurement.sums[index] &+= other.sums[index] }
  }

  func pixel(
    _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
  ) -> SIMD4<Float> {
    let count = Double(self.ofRows ? size.width : size.height)
    return SIMD4<Float>(
      SIMD4<Double>(measurement.sums[self.ofRows ? y : x]) / (count * 0x1p20))
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
