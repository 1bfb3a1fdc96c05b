/// An image on top of the picture: a sticker, logo or frame.
struct Overlay: CatalogueFilter {
  static let description = FilterDescription(
    name: "overlay",
    summary: "Draws an image on the picture: a logo, a frame or a sticker.",
    category: .compositing, reach: .pixel, fidelity: .formula,
    formula: """
      o p + s (1 - oa p), colour multiplied by alpha (Porter and Duff 1984), o the image, p \
      opacity, s the picture. The image is fitted into the rectangle, which is scaled about its \
      centre and then moved by offset. Linear interpolation where the image grows, the mean of the \
      covered area where it shrinks
      """,
    parameters: [
      .image("asset", "The name of the image."),
      ParameterDescription(
        "anchor", .choice(["frame"]), default: .text("frame"),
        "The object that the rectangle is fixed to: the frame."),
      ParameterDescription(
        "origin", .point, default: .vector([0, 0]), "The top left corner of the rectangle."),
      ParameterDescription(
        "width", .length, default: .length(Length(1, .width)), slider: 0 ... 4096,
        limits: 0 ... 16384, unit: .pixels, "The rectangle's width."),
      ParameterDescription(
        "height", .length, default: .length(Length(1, .height)), slider: 0 ... 4096,
        limits: 0 ... 16384, unit: .pixels, "The rectangle's height."),
      ParameterDescription(
        "offset", .point, default: .vector([0, 0]), "The displacement of the rectangle."),
      ParameterDescription(
        "scale", .number, default: .number(1), slider: 0 ... 4, limits: 0 ... 64,
        "The factor of the rectangle's size, about its centre."),
      ParameterDescription(
        "opacity", .number, default: .number(1), slider: 0 ... 1, limits: 0 ... 1,
        "The opacity of the image; 0 changes nothing."),
      .fit(default: .fit, "How the image is fitted into the rectangle."),
    ])

  private let image: ImageAsset?
  private let region: Region
  private let offset: FramePoint
  private let scale: Double
  private let opacity: Double
  private let fit: PictureFit

  init(_ arguments: Arguments) {
    self.image = arguments.image("asset")
    self.region = Region(
      origin: arguments.point("origin"), width: arguments.length("width"),
      height: arguments.length("height"))
    self.offset = arguments.point("offset")
    self.scale = arguments.number("scale")
    self.opacity = arguments.number("opacity")
    self.fit = PictureFit(rawValue: arguments.text("fit")) ?? .fit
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    self.nodes(for: geometry, in: .sRGBGamma)
  }

  /// The nodes in a working space: the image is converted to it.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    let size = geometry.size
    let (wide, high) = (self.region.width.pixels(in: size), self.region.height.pixels(in: size))
    let (width, height) = (wide * self.scale, high * self.scale)
    guard self.opacity > 0, let image = self.image,
      let placed = image.placed(
        x: self.region.origin.x.pixels(in: size) + self.offset.x.pixels(in: size)
          + (wide - width) / 2,
        y: self.region.origin.y.pixels(in: size) + self.offset.y.pixels(in: size)
          + (high - height) / 2,
        width: width, height: height, fit: self.fit, in: size, space)
    else { return [] }
    return [
      Composition.under.node(.image(placed), opacity: self.opacity, isOpaque: geometry.isOpaque)
    ]
  }
}
