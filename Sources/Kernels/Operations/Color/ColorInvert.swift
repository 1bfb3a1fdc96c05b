/// The complement of colours.
struct ColorInvert: CatalogueFilter {
  static let description = FilterDescription(
    name: "colorInvert",
    summary: "Inverts the colours.",
    category: .color, reach: .pixel, fidelity: .formula, isCoreImage: true,
    keywords: "negative",
    formula: "rgb' = 1 - rgb; alpha is kept. Applied twice, it changes nothing")

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [
      .matrix(
        ColorMatrix(
          red: [-1, 0, 0, 0], green: [0, -1, 0, 0], blue: [0, 0, -1, 0], bias: [1, 1, 1, 0])
      )
    ]
  }
}
