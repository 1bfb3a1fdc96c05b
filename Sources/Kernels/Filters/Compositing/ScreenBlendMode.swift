/// Lightens the picture by a background image, as two projectors would.
struct ScreenBlendMode: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "screenBlendMode",
    summary: "Lightens the picture by a background image, as two projectors would.",
    category: .compositing, reach: .pixel, fidelity: .formula,
    formula: """
      s + o - s o, colour multiplied by alpha, and alpha too (W3C Compositing and Blending, screen)
      """,
    parameters: [
      .image("backgroundImage", "The name of the other image."),
      .fit(default: .stretch, "How the image is brought into the frame."),
    ])

  private let image: ImageAsset?
  private let fit: PictureFit

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.image = arguments.image("backgroundImage")
    self.fit = PictureFit(rawValue: arguments.text("fit")) ?? .stretch
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    guard let image = self.image,
      let placed = PlacedImage(image, fit: self.fit, in: geometry.size)
    else { return [] }
    return [Composition.screen.node(placed, isOpaque: geometry.isOpaque)]
  }
}
