package import SidelightKernels

/// The replacement of a key colour by a background.
struct ChromaKey: CatalogueFilter, SpaceDependentFilter {
  static let description = FilterDescription(
    name: "chromaKey",
    summary: "Replaces a key colour, such as a green screen's, by an image, a colour or nothing.",
    category: .compositing, reach: .frame, fidelity: .formula,
    keywords: "remove replace background transparent virtual",
    examples: ["chromaKey(backgroundImage: picture.png)", "chromaKey"],
    formula: """
      a F + (1 - a) o, colour multiplied by alpha, o the background (by default transparent, or \
      black in an opaque picture). a is the matte m, with the picture's edges: m = clamp((d - \
      near) / (far - near), 0, 1) in a picture of at most 320x180 means, d the distance of Cb and \
      Cr (BT.601, -0.5 ... 0.5) from the ray away from grey through color, from far away from grey \
      on; then a colour guided filter (He, Sun and Tang 2013) of radius 5 and epsilon .001, whose \
      weights are applied to the picture's pixels, and smoothstep(.15, .85). F is the picture \
      without spill: the key's greatest channel less spill times its excess over the others, and \
      in pixels with a < 1 less the rest of the key colour, F a = clamp(c - (1 - a) r, 0, a). YUV \
      formats plane by plane. Computed on gamma-encoded colour in every working space
      """,
    parameters: [
      ParameterDescription(
        "color", .color, default: .color(RGBAColor(red: 0, green: 0.69, blue: 0.25)),
        "The key colour, as the camera shows it; chroma key green by default. Alpha is ignored."),
      ParameterDescription(
        "near", .number, default: .number(0.1), slider: 0 ... 0.4, limits: 0 ... 1,
        "The distance in Cb and Cr up to which colours are replaced."),
      ParameterDescription(
        "far", .number, default: .number(0.22), slider: 0 ... 0.5, limits: 0 ... 1,
        "The distance from which colours are kept; in effect at least 0.001 more than near."),
      ParameterDescription(
        "spill", .number, default: .number(1), slider: 0 ... 1, limits: 0 ... 1,
        "The share of the key's tint that is removed from the rest of the picture."),
      .image(
        "backgroundImage", isOptional: true, "The name of the background image; none by default."),
      ParameterDescription(
        "backgroundColor", .color,
        default: .color(RGBAColor(red: 0, green: 0, blue: 0, alpha: 0)),
        "The colour behind the background image, or instead of it; transparent by default."),
      .fit(default: .fill, "How the background image is fitted into the frame."),
    ])

  private let key: KeyMatte
  private let spill: KeySpill
  private let image: ImageAsset?
  private let color: RGBAColor
  private let fit: PictureFit

  init(_ arguments: Arguments) {
    let color = arguments.color("color")
    self.key = KeyMatte(
      color: color, near: arguments.number("near"), far: arguments.number("far"))
    self.spill = KeySpill(color: color, amount: arguments.number("spill"))
    self.image = arguments.image("backgroundImage")
    self.color = arguments.color("backgroundColor")
    self.fit = PictureFit(rawValue: arguments.text("fit")) ?? .fill
  }

  /// The nodes in a working space: in linear light the picture is encoded for the key and decoded
  /// again.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    let size = geometry.size
    let image = self.image?.placed(
      x: 0, y: 0, width: Double(size.width), height: Double(size.height), fit: self.fit, in: size,
      .sRGBGamma)
    let operation = ChromaKeyOperation(
      key: self.key, spill: self.spill, image: image, color: self.color)
    let node = FilterNode(
      .neighborhood(operation),
      byteCost: MatteBackdrop.byteCount(size) + (image?.byteCount ?? 0))
    return space == .sRGBGamma ? [node] : [.curve(.encoded), node, .curve(.linearized)]
  }
}

/// The replacement of a key colour by a backdrop, with edges from a guided filter.
package struct ChromaKeyOperation: NeighborhoodOperation {
  package let key: KeyMatte
  package let spill: KeySpill
  /// The background image, placed in the frame.
  package let image: PlacedImage?
  /// The colour behind it.
  package let color: RGBAColor
  package var guided = GuidedFilter()

  package var kind: PassDescription.Kind { .composite }
  package var averages: Bool { false }
  package var limitsLast: Bool { true }

  package func spread(in geometry: FrameGeometry) -> Double? { self.guided.spread(in: geometry) }

  package var summary: String {
    "colours within \(self.key.near) ... \(self.key.far) of a key replaced, edges guided within "
      + "\(self.guided.radius) cells"
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    ChromaKeyPass(setting, self)
  }
}

/// Reduces a picture, computes the key's matte and its models, and blends.
struct ChromaKeyPass: Pass {
  let description: PassDescription
  private let operation: ChromaKeyOperation
  private let reduction: FrameReduction
  private let blend: MatteBlend
  private let backdrop: MatteBackdrop

  init(_ setting: PassSetting, _ operation: ChromaKeyOperation) {
    self.description = setting.description
    self.operation = operation
    self.reduction = FrameReduction(setting.geometry)
    self.blend = MatteBlend(setting, self.reduction, operation.spill)
    self.backdrop = MatteBackdrop(
      image: operation.image, color: operation.color, geometry: setting.geometry)
  }

  /// The whole picture is reduced before a row of it is written, and the blend reads and writes the
  /// same rows.
  var worksInPlace: Bool { true }

  func run(_ context: PassContext) async {
    let size = self.reduction.size
    let guide = GuidePlanes.guide(size, pool: context.pool)
    let source = context.inputs[0].view
    let (reduction, key, guided) = (self.reduction, self.operation.key, self.operation.guided)
    await context.bands.run(
      rows: size.height, nanoseconds: Double(source.size.pixelCount) * 0.4
    ) { band in
      reduction.run(band, from: source, to: guide)
      key.run(band, guide)
    }
    let models = FloatPlanes(width: size.width, height: size.height, planes: 4, pool: context.pool)
    await context.bands.run(
      rows: size.height, alignment: 16, nanoseconds: Double(size.pixelCount) * 15
    ) { band in
      guided.run(band, guide, to: models)
    }
    await self.blend.run(context, models, over: self.backdrop)
  }
}
