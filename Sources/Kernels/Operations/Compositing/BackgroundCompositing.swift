/// The picture over a background image, which is visible where the picture is not opaque.
struct SourceOverCompositing: BackgroundCompositing {
  static let description = Self.makeDescription(
    "sourceOverCompositing", "Composites the picture over a background image.",
    """
    s + o (1 - sa), colour multiplied by alpha (Porter and Duff 1984), s the picture and o the \
    background
    """)
  static let composition = Composition.over

  let settings: BackgroundSettings

  init(_ arguments: Arguments) {
    self.settings = BackgroundSettings(arguments)
  }
}

/// The product of the picture and a background image.
struct MultiplyCompositing: BackgroundCompositing {
  static let description = Self.makeDescription(
    "multiplyCompositing", "Multiplies the picture by a background image.",
    """
    s o, colour multiplied by alpha, and alpha too; the result of an opaque picture is composited \
    on black
    """)
  static let composition = Composition.multiply

  let settings: BackgroundSettings

  init(_ arguments: Arguments) {
    self.settings = BackgroundSettings(arguments)
  }
}

/// The screen blend of the picture and a background image, which lightens the picture.
struct ScreenBlendMode: BackgroundCompositing {
  static let description = Self.makeDescription(
    "screenBlendMode", "Lightens the picture by a background image, like two projectors.",
    "s + o - s o, colour multiplied by alpha, and alpha too (W3C Compositing and Blending, screen)")
  static let composition = Composition.screen

  let settings: BackgroundSettings

  init(_ arguments: Arguments) {
    self.settings = BackgroundSettings(arguments)
  }
}

/// The common part of the filters that composite the picture with a background image.
protocol BackgroundCompositing: CatalogueFilter {
  static var composition: Composition { get }

  var settings: BackgroundSettings { get }
}

/// The parameters of a filter with a background image.
struct BackgroundSettings: Sendable {
  let backdrop: Backdrop?
  let fit: PictureFit

  init(_ arguments: Arguments) {
    self.backdrop = Backdrop("backgroundImage", of: arguments)
    self.fit = PictureFit(rawValue: arguments.text("fit")) ?? .stretch
  }
}

extension BackgroundCompositing {
  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    self.nodes(for: geometry, in: .sRGBGamma)
  }

  /// The nodes in a working space: the background is converted to it.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    guard
      let placed = self.settings.backdrop?.placed(
        self.settings.fit, in: geometry.size, space)
    else { return [] }
    return [Self.composition.node(placed, isOpaque: geometry.isOpaque)]
  }

  fileprivate static func makeDescription(
    _ name: String, _ summary: String, _ formula: String
  ) -> FilterDescription {
    FilterDescription(
      name: name, summary: summary, category: .compositing, reach: .pixel, fidelity: .formula,
      isCoreImage: true, formula: formula,
      parameters: [
        .backdrop(
          "backgroundImage",
          "The name of the background image, or source: the frame before the first stage."),
        .fit(
          default: .stretch, "How the image is fitted into the frame; source is stretched."),
      ])
  }
}
