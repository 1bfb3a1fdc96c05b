/// Turns colours into greys of the same luma.
struct Grayscale: CatalogueFilter {
  static let description = FilterDescription(
    name: "grayscale",
    summary: "Turns colours into greys of the same luma.",
    category: .color, reach: .pixel, fidelity: .formula,
    formula: "r' = g' = b' = .2126 r + .7152 g + .0722 b (ITU-R BT.709 luma); alpha is kept")

  /// The weights of red, green and blue in luma (ITU-R BT.709).
  static let luma = SIMD3(0.2126, 0.7152, 0.0722)

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [Node] {
    [.matrix(.monochrome(Self.luma))]
  }
}

/// The weights of a pixel's first three channels in its luma (ITU-R BT.709).
struct LumaWeights {
  /// In the order of the channels in memory.
  let exact: [Double]

  /// - Parameter format: A format of colour channels.
  init(_ format: PixelFormat) {
    let luma = Grayscale.luma
    self.exact = format == .bgra8 ? [luma.z, luma.y, luma.x] : [luma.x, luma.y, luma.z]
  }

  /// In 1/32768; they sum to that.
  var fixed: [Int16] {
    var values = self.exact.map { Int16(($0 * 32768).rounded()) }
    // The greatest takes what rounding lost.
    values[1] += Int16(32768 - values.reduce(0) { $0 + Int($1) })
    return values
  }
}
