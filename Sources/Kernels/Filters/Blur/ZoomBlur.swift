/// The mean along a ray from each pixel to a centre.
struct ZoomBlur: CatalogueFilter {
  static let description = FilterDescription(
    name: "zoomBlur",
    summary: "Blurs as if the camera zoomed while the picture was taken.",
    category: .blur, reach: .neighborhood, fidelity: .modelled,
    formula: """
      The mean of 64 points of the ray to the center, at center + (p - center) s t, \
      s = 1 - a (i + 1/2) / 64, t = 1 - a k / 8, i, k = 0 ..< 8, a = amount / 100: first over s, \
      then over t. At the centre nothing is blurred. Bilinear; beyond the edges lies border; alpha is blurred \
      with premultiplied colour. 0 changes nothing
      """,
    parameters: [
      ParameterDescription("center", .point, default: .point(.center), "What is zoomed to."),
      ParameterDescription(
        "amount", .number, default: .number(20), slider: -200 ... 200, limits: -400 ... 400,
        "The length of the ray in hundredths of the distance; less than 0 is away."),
      Border.parameter,
    ])

  private let center: Point
  private let amount: Double
  private let border: Border

  init(_ arguments: Arguments) {
    self.center = arguments.point("center")
    self.amount = arguments.number("amount")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    guard self.amount != 0 else { return [] }
    let size = geometry.size
    let center = (x: self.center.x.pixels(in: size), y: self.center.y.pixels(in: size))
    return self.border.nodes(for: geometry) { left, top in
      let center = (x: center.x + Double(left), y: center.y + Double(top))
      return [Node(.neighborhood(RayBlurOperation(center: center, extent: self.amount / 100)))]
    }
  }
}
