/// The luma of pixels as grey.
package struct Grayscale: CatalogueFilter {
  package static let description = FilterDescription(
    name: "grayscale",
    summary: "Converts colours to greys of the same luma.",
    category: .color, reach: .pixel, fidelity: .formula,
    keywords: "black white monochrome",
    formula: "r' = g' = b' = .2126 r + .7152 g + .0722 b (ITU-R BT.709 luma); alpha is kept")

  package init(_ arguments: Arguments) {}

  package func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.matrix(.monochrome(ColorMatrix.luma))]
  }
}

/// The weights of a pixel's first three channels in its Rec. 709 luma.
package struct LumaWeights {
  /// The weights in the order of the channels in memory.
  package let exact: [Double]

  /// Creates the weights of a format.
  ///
  /// - Parameter format: A format with colour channels.
  package init(_ format: PixelFormat) {
    let luma = ColorMatrix.luma
    self.exact = format == .bgra8 ? [luma.z, luma.y, luma.x] : [luma.x, luma.y, luma.z]
  }

  /// The weights in units of 1/32768. Their sum is 32768.
  package var fixed: [Int16] {
    var values = self.exact.map { Int16(($0 * 32768).rounded()) }
    // The largest weight takes the rounding error.
    values[1] += Int16(32768 - values.reduce(0) { $0 + Int($1) })
    return values
  }
}
