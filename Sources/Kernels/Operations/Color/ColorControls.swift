/// Saturation, brightness and contrast, in this order.
struct ColorControls: CatalogueFilter {
  static let description = FilterDescription(
    name: "colorControls",
    summary: "Adjusts saturation, brightness and contrast.",
    category: .color, reach: .pixel, fidelity: .formula, isCoreImage: true,
    keywords: "brighter darker vivid gray",
    examples: [
      "colorControls(saturation: 1.6, brightness: 0.05, contrast: 1.3)",
      "colorControls(saturation: 0.3, brightness: -0.1, contrast: 0.8)",
    ],
    formula: """
      c1 = Y + saturation * (rgb - Y), Y = .2126 r + .7152 g + .0722 b; c2 = c1 + brightness; \
      rgb' = (c2 - .5) * contrast + .5
      """,
    parameters: [
      ParameterDescription(
        "saturation", .number, default: .number(1), slider: 0 ... 2, limits: -16 ... 16,
        "0 is grey, 1 changes nothing."),
      ParameterDescription(
        "brightness", .number, default: .number(0), slider: -1 ... 1, limits: -4 ... 4,
        "The amount added to each channel; 0 changes nothing."),
      ParameterDescription(
        "contrast", .number, default: .number(1), slider: 0.25 ... 4, limits: -64 ... 64,
        "The slope around middle grey; 1 changes nothing."),
    ])

  private let saturation: Double
  private let brightness: Double
  private let contrast: Double

  init(_ arguments: Arguments) {
    self.saturation = arguments.number("saturation")
    self.brightness = arguments.number("brightness")
    self.contrast = arguments.number("contrast")
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    // Exactly the identity if the colours don't change, which lets the planner drop it.
    let saturated =
      self.saturation == 1
      ? ColorMatrix.identity
      : ColorMatrix.monochrome(ColorMatrix.luma).mixed(1 - self.saturation)
    let slope = self.contrast
    let bias = self.brightness * slope + 0.5 - 0.5 * slope
    let toned = ColorMatrix(
      red: [slope, 0, 0, 0], green: [0, slope, 0, 0], blue: [0, 0, slope, 0],
      bias: [bias, bias, bias, 0])
    return [.matrix(saturated.followed(by: toned))]
  }
}
