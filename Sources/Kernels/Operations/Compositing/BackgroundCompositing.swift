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
      .backdrop(
        "backgroundImage", "The name of the other image, or source: the frame as it came in."),
      .fit(default: .stretch, "How the image is brought into the frame; source is stretched."),
    ])

  private let backdrop: Backdrop?
  private let fit: PictureFit

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.backdrop = Backdrop("backgroundImage", of: arguments)
    self.fit = PictureFit(rawValue: arguments.text("fit")) ?? .stretch
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    self.nodes(for: geometry, in: .sRGBGamma)
  }

  /// What the filter does, with the other picture's colours in the same space.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [Node] {
    guard let placed = self.backdrop?.placed(self.fit, in: geometry.size, space) else { return [] }
    return [Composition.over.node(placed, isOpaque: geometry.isOpaque)]
  }
}

/// Multiplies the picture by a background image.
struct MultiplyCompositing: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "multiplyCompositing",
    summary: "Multiplies the picture by a background image.",
    category: .compositing, reach: .pixel, fidelity: .formula,
    formula: """
      s o, colour multiplied by alpha, and alpha too; an opaque picture stands before black
      """,
    parameters: [
      .backdrop(
        "backgroundImage", "The name of the other image, or source: the frame as it came in."),
      .fit(default: .stretch, "How the image is brought into the frame; source is stretched."),
    ])

  private let backdrop: Backdrop?
  private let fit: PictureFit

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.backdrop = Backdrop("backgroundImage", of: arguments)
    self.fit = PictureFit(rawValue: arguments.text("fit")) ?? .stretch
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    self.nodes(for: geometry, in: .sRGBGamma)
  }

  /// What the filter does, with the other picture's colours in the same space.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [Node] {
    guard let placed = self.backdrop?.placed(self.fit, in: geometry.size, space) else { return [] }
    return [Composition.multiply.node(placed, isOpaque: geometry.isOpaque)]
  }
}

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
      .backdrop(
        "backgroundImage", "The name of the other image, or source: the frame as it came in."),
      .fit(default: .stretch, "How the image is brought into the frame; source is stretched."),
    ])

  private let backdrop: Backdrop?
  private let fit: PictureFit

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.backdrop = Backdrop("backgroundImage", of: arguments)
    self.fit = PictureFit(rawValue: arguments.text("fit")) ?? .stretch
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    self.nodes(for: geometry, in: .sRGBGamma)
  }

  /// What the filter does, with the other picture's colours in the same space.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [Node] {
    guard let placed = self.backdrop?.placed(self.fit, in: geometry.size, space) else { return [] }
    return [Composition.screen.node(placed, isOpaque: geometry.isOpaque)]
  }
}
