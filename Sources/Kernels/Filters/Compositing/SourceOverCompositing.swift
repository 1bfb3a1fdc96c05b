/// Lays the picture over a background image: seen where the picture is not opaque.
struct SourceOverCompositing: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "sourceOverCompositing",
    summary: "Lays the picture over a background image: seen where the picture is not opaque.",
    category: .compositing, reach: .pixel, fidelity: .formula,
    formula: """
      s + o (1 - sa), colour multiplied by alpha (Porter and Duff 1984), s the picture and o the background
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
    return [Composition.over.node(placed, isOpaque: geometry.isOpaque)]
  }
}
