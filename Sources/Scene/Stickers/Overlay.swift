package import SidelightKernels

/// An image on top of the picture: a sticker, logo or frame, fixed to the frame or to faces.
package struct Overlay: CatalogueFilter, SceneFilter, SpaceDependentFilter {
  package static let description = FilterDescription(
    name: "overlay",
    summary: "Draws an image on the picture: a logo, a frame, or a sticker that follows a face.",
    category: .compositing, reach: .pixel, fidelity: .formula,
    keywords: "watermark glasses hat moustache badge brand",
    examples: [
      """
      overlay(asset: sticker.png, origin: (0.6w, 0.05h), width: 0.35w, height: 0.35h, opacity: \
      0.9)
      """,
      "overlay(asset: glasses.png, anchor: eyes, scale: 0.9)",
    ],
    formula: """
      o p + s (1 - oa p), colour multiplied by alpha (Porter and Duff 1984), o the image, p \
      opacity, s the picture. Linear interpolation where the image grows, the mean of the covered \
      area where it shrinks. anchor frame: the image is fitted into the rectangle, which is scaled \
      about its centre and then moved by offset. Other anchors: with the face width w, the side of \
      the square around the face, the image is scale w wide with its own ratio of sides, and its \
      centre is at anchor + w R faceOffset, R the face's rotation, or none without rotate. In the \
      square, from its top left corner: face (0.5, 0.5), eyes (0.49, 0.37), forehead (0.49, 0.16), \
      mouth (0.5, 0.79). The image turns with the face too. p is opacity times a factor that rises \
      from 0 to 1 over fade while the face is selected, and falls after, at the face's last place. \
      Interpolated from the image halved as often as its scale is nearest to 1; composited in \
      gamma-encoded colour, in YUV formats plane by plane. Without a face the frame is unchanged
      """,
    parameters: [
      .image("asset", "The name of the image."),
      ParameterDescription(
        "anchor", .choice([Self.frameAnchor] + FaceAnchor.allCases.map(\.rawValue)),
        default: .text(Self.frameAnchor),
        "The object that the image is fixed to: the frame, or a point of a face."),
      ParameterDescription(
        "origin", .point, default: .vector([0, 0]),
        "The top left corner of the rectangle; anchor frame only."),
      ParameterDescription(
        "width", .length, default: .length(Length(1, .width)), slider: 0 ... 4096,
        limits: 0 ... 16384, unit: .pixels, "The rectangle's width; anchor frame only."),
      ParameterDescription(
        "height", .length, default: .length(Length(1, .height)), slider: 0 ... 4096,
        limits: 0 ... 16384, unit: .pixels, "The rectangle's height; anchor frame only."),
      ParameterDescription(
        "offset", .point, default: .vector([0, 0]),
        "The displacement of the rectangle; anchor frame only."),
      ParameterDescription(
        "scale", .number, default: .number(1), slider: 0 ... 4, limits: 0 ... 64,
        "The factor of the rectangle's size, about its centre; on faces the image's width in face "
          + "widths, by default 1.7 for a hat on the forehead, 0.6 for a moustache on the mouth."
      ).defaulting(
        to: [
          FaceAnchor.forehead.rawValue: .number(1.7), FaceAnchor.mouth.rawValue: .number(0.6),
        ], by: "anchor"),
      ParameterDescription(
        "opacity", .number, default: .number(1), slider: 0 ... 1, limits: 0 ... 1,
        "The opacity of the image; 0 changes nothing."),
      .fit(default: .fit, "How the image is fitted into the rectangle; anchor frame only."),
      ParameterDescription(
        "faceOffset", .vector(count: 2), default: .vector([0, 0]), slider: -2 ... 2,
        limits: -16 ... 16,
        "The displacement of the image's centre from the anchor on a face, in face widths: to the "
          + "right and down; by default 0.52 upwards from the forehead, 0.1 from the mouth."
      ).defaulting(
        to: [
          FaceAnchor.forehead.rawValue: .vector([0, -0.52]),
          FaceAnchor.mouth.rawValue: .vector([0, -0.1]),
        ], by: "anchor"),
      ParameterDescription(
        "which", .choice(["largest", "all", "id"]), default: .text("largest"),
        "The faces that carry the image; id selects the face of that number."),
      ParameterDescription(
        "id", .number, default: .number(0), slider: 0 ... 100, limits: 0 ... 1_000_000_000,
        "The number of the face, as faceDetection reports it, for which: id."),
      ParameterDescription(
        "rotate", .flag, default: .flag(true), "Whether the image turns with the face."),
      ParameterDescription(
        "fade", .number, default: .number(0.15), slider: 0 ... 2, limits: 0 ... 60,
        "The time in seconds in which the image appears on a face, and disappears; 0 is at once."),
    ])

  /// The anchor of images that are fixed to the frame.
  private static let frameAnchor = "frame"

  private let image: ImageAsset?
  private let region: Region
  private let offset: FramePoint
  private let scale: Double
  private let opacity: Double
  private let fit: PictureFit
  /// The point of faces; `nil` for the frame.
  private let anchor: FaceAnchor?
  private let faceOffset: PicturePoint
  private let rotates: Bool
  private let choice: FaceChoice
  private let fade: Duration
  private let tools: FaceTools?

  package init(_ arguments: Arguments) {
    self.init(arguments, tools: nil)
  }

  /// - Parameters:
  ///   - arguments: The validated parameters.
  ///   - tools: The tools that find faces; `nil` if the program cannot find faces, and only the
  ///     anchor `frame` is available.
  package init(_ arguments: Arguments, tools: FaceTools?) {
    self.image = arguments.image("asset")
    self.region = Region(
      origin: arguments.point("origin"), width: arguments.length("width"),
      height: arguments.length("height"))
    self.offset = arguments.point("offset")
    self.scale = arguments.number("scale")
    self.opacity = arguments.number("opacity")
    self.fit = PictureFit(rawValue: arguments.text("fit")) ?? .fit
    self.anchor = FaceAnchor(rawValue: arguments.text("anchor"))
    let faceOffset = arguments.vector("faceOffset")
    self.faceOffset = PicturePoint(x: faceOffset[0], y: faceOffset[1])
    self.rotates = arguments.flag("rotate")
    self.choice =
      switch arguments.text("which") {
      case "all": .all
      case "id": .id(FaceID(Int(arguments.number("id").rounded())))
      default: .largest
      }
    self.fade = .seconds(arguments.number("fade"))
    self.tools = tools
  }

  /// Adds the filter with all anchors. It replaces the one with the anchor `frame` only.
  package static func register(in catalogue: inout FilterCatalogue, tools: FaceTools) {
    catalogue.register(Self.description) { Overlay($0, tools: tools) }
  }

  package var usesScene: Bool { self.anchor != nil }

  package var unavailability: String? {
    self.usesScene && self.tools == nil ? "this server is built without Vision" : nil
  }

  /// The nodes in a working space: an image that is fixed to the frame is converted to it.
  package func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    if let anchor = self.anchor { return self.nodes(on: anchor) }
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

  private func nodes(on anchor: FaceAnchor) -> [FilterNode] {
    guard self.opacity > 0, self.scale > 0, let image = self.image, let tools = self.tools else {
      return []
    }
    let operation = StickerOperation(
      pyramid: image.pyramid,
      placement: StickerPlacement(
        anchor: anchor, offset: self.faceOffset, scale: self.scale, rotates: self.rotates),
      choice: self.choice, opacity: self.opacity, fade: self.fade, tools: tools)
    return [FilterNode(.scene(operation), byteCost: operation.pyramid.byteCount)]
  }
}
