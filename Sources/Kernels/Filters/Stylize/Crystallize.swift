/// Makes the picture a mosaic of crystals.
struct Crystallize: CatalogueFilter {
  static let description = FilterDescription(
    name: "crystallize",
    summary: "Maps the picture to polygons of one colour each.",
    category: .stylize, reach: .frame, fidelity: .modelled,
    formula: """
      Each pixel becomes the mean, rounded to nearest, of all that share its nearest seed. Seeds lie \
      on a grid through center, 2 radius apart, every second row by half of that to the right, each \
      moved by up to .32 of the distance either way: always the same for the same place in the grid. \
      Luma and chroma are averaged on their own planes; with alpha, premultiplied colour is
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(20), slider: 1 ... 100, limits: 1 ... 16384,
        unit: .pixels, "Half the distance from crystal to crystal."),
      ParameterDescription(
        "center", .point, default: .point(.center), "A place in the grid of crystals."),
    ])

  private let radius: Length
  private let center: Point

  init(_ arguments: Arguments) {
    self.radius = arguments.length("radius")
    self.center = arguments.point("center")
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let size = geometry.size
    let radius = min(max(self.radius.pixels(in: size), 1), 16384)
    let (x, y) = self.center.pixels(in: size)
    return [
      Node(.neighborhood(CellOperation(lattice: CellLattice(x: x, y: y, spacing: 2 * radius))))
    ]
  }
}
