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
