/// The mean along a line through each pixel.
struct MotionBlur: CatalogueFilter {
  static let description = FilterDescription(
    name: "motionBlur",
    summary: "Blurs as if the camera moved while the picture was taken.",
    category: .blur, reach: .neighborhood, fidelity: .formula,
    formula: """
      The mean along the line of length 2 radius + 1 through the pixel, one sample for each whole \
      step along its greater extent, interpolated between the two pixels across it; the ends count \
      in part. Beyond the edges lies border; alpha is blurred with premultiplied colour. 0 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(20), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "How far the line reaches to both sides."),
      ParameterDescription(
        "angle", .number, default: .number(0), slider: -3.141592653589793 ... 3.141592653589793,
        limits: -1000 ... 1000, unit: .radians,
        "The line's angle to the horizontal, counterclockwise."),
      Border.parameter,
    ])

  private let radius: Length
  private let angle: Double
  private let border: Border

  init(_ arguments: Arguments) {
    self.radius = arguments.length("radius")
    self.angle = arguments.number("angle")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let radius = min(self.radius.pixels(in: geometry.size), 1024)
    guard radius > 0 else { return [] }
    return self.border.nodes(for: geometry) { _, _ in
      [Node(.neighborhood(LineBlurOperation(radius: radius, angle: self.angle)))]
    }
  }
}
