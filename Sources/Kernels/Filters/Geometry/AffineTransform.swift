/// Moves, turns, scales and shears the picture within its frame.
struct AffineTransform: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "affineTransform",
    summary: "Moves, turns, scales or shears the picture; the frame keeps its size.",
    category: .geometry, reach: .frame, fidelity: .formula,
    formula: """
      A pixel at (x, y) goes to (a x + c y + tx, b x + d y + ty), in pixels from the top left corner; \
      bilinear, and where the picture shrinks n-fold the mean of n x n samples, n at most 8. Outside \
      lies transparency (black where there is no alpha), or what is at the edge
      """,
    parameters: [
      ParameterDescription(
        "transform", .vector(count: 6), default: .vector([1, 0, 0, 1, 0, 0]), slider: -2 ... 2,
        limits: -65536 ... 65536, "a, b, c, d, tx, ty; the default changes nothing."),
      ParameterDescription(
        "border", .choice(["transparent", "clamp"]), default: .text("transparent"),
        "What lies outside the picture."),
    ])

  private let map: AffineMap
  private let clamps: Bool

  /// Reads the settings.
  init(_ arguments: Arguments) {
    let vector = arguments.vector("transform")
    self.map = AffineMap(
      a: vector[0], b: vector[1], c: vector[2], d: vector[3], tx: vector[4], ty: vector[5])
    self.clamps = arguments.text("border") == "clamp"
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    guard self.map != .identity else { return [] }
    return [
      Node(.neighborhood(AffineOperation(inverse: self.map.inverse, clamps: self.clamps)))
    ]
  }
}
