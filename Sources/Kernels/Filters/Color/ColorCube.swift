import CKernels

/// Looks colours up in a table of the user's own.
struct ColorCube: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "colorCube",
    summary: "Maps colours through a lookup table: a .cube file of curves or of a cube.",
    category: .color, reach: .pixel, fidelity: .formula,
    formula: """
      rgb' = rgb + intensity * (table(rgb) - rgb), rgb clamped to the table's domain. A cube is \
      interpolated tetrahedrally: from the cell's low corner along the axes in the order of their \
      fractions; curves linearly. Greys of a neutral cube stay grey; alpha is kept
      """,
    parameters: [
      ParameterDescription(
        "asset", .asset, default: nil, assetKind: .cube, "The name of the table."),
      ParameterDescription(
        "intensity", .number, default: .number(1), slider: 0 ... 1, limits: 0 ... 1,
        "How much of the table's colour is seen; 0 changes nothing."),
    ])

  private let cube: CubeAsset?
  private let intensity: Double

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.cube = arguments.cube("asset")
    self.intensity = arguments.number("intensity")
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    guard let cube = self.cube, self.intensity > 0 else { return [] }
    let node = Node(
      .kernel(
        StripKernel { pixel, _, _, _ in
          SIMD4(cube.color(of: SIMD3(pixel.x, pixel.y, pixel.z)), pixel.w)
        } apply: { strip in
          cube.apply(to: strip)
        }))
    return [self.intensity < 1 ? .mixed([node], amount: self.intensity) : node]
  }
}
