package import SidelightKernels

/// The replacement of the background behind people.
package struct VirtualBackground: SceneFilter {
  package static let name = "virtualBackground"

  /// Returns the description.
  ///
  /// - Parameter models: The names of the operator's models for mattes.
  package static func description(models: [String]) -> FilterDescription {
    FilterDescription(
      name: Self.name,
      summary: "Replaces the background behind people by an image or a colour.",
      category: .compositing, reach: .frame, fidelity: .formula,
      keywords: "remove hide room green screen",
      examples: [
        "virtualBackground(matte: key, backgroundImage: picture.png)",
        "virtualBackground(protect: false)",
      ],
      formula: """
        a F + (1 - a) o, colour multiplied by alpha, o the background. a is the matte at most at \
        320x180 pixels, with the frame's edges: the last matte keeps the weight smoothing exp(-(d \
        / 10)^2), d the change of the pixel in levels; then chromaKey's guided filter and \
        smoothstep(.15, .85), which edge moves to .02 ... .4 or .6 ... .98. Matte plate: the \
        difference from the empty room, after alignment within 4 pixels and gains of red, green \
        and blue, shadows and small regions left out. Matte key: as chromaKey with its defaults, F \
        without spill. lightWrap l adds 2 l (1 - blur(a)) blur(o) to F. While the matte is not \
        sure (no plate yet, a cut, less than a twentieth of background, a known face left out), \
        only the background is shown, or the frame blurred by height / 18 if protect is false. \
        Detections plateProgress: the share of the plate that is learned. plateReady: 1 once it is \
        learned. matteError: the reason, if a model failed; empty once it works again
        """,
      parameters: MatteChoice.parameters(
        [MatteTools.plate, MatteTools.key] + models, portrait: false) + [
          .image(
            "backgroundImage", isOptional: true,
            "The name of the background image; none by default."),
          ParameterDescription(
            "backgroundColor", .color,
            default: .color(RGBAColor(red: 0, green: 0, blue: 0, alpha: 0)),
            "The colour behind the background image, or instead of it; transparent by default."),
          .fit(default: .fill, "How the background image is fitted into the frame."),
          ParameterDescription(
            "lightWrap", .number, default: .number(0.1), slider: 0 ... 1, limits: 0 ... 1,
            "The strength of the background's light on the person's edges."),
        ])
  }

  package let description: FilterDescription
  private let choice: MatteChoice
  private let edges: MatteEdges
  private let image: ImageAsset?
  private let color: RGBAColor
  private let fit: PictureFit
  private let lightWrap: Double

  package init(_ arguments: Arguments, mattes: MatteTools) {
    self.description = Self.description(models: mattes.models.keys.sorted())
    self.choice = MatteChoice(arguments, mattes)
    self.edges = MatteEdges(position: arguments.number("edge"))
    self.image = arguments.image("backgroundImage")
    self.color = arguments.color("backgroundColor")
    self.fit = PictureFit(rawValue: arguments.text("fit")) ?? .fill
    self.lightWrap = arguments.number("lightWrap")
  }

  package var unavailability: String? { self.choice.unavailability }
  package var protects: Bool { self.choice.protects }

  package func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let size = geometry.size
    let image = self.image?.placed(
      x: 0, y: 0, width: Double(size.width), height: Double(size.height), fit: self.fit, in: size,
      .sRGBGamma)
    var spill = KeySpill()
    if case .key(let key) = self.choice.kind { spill = KeySpill(color: key.color, amount: 1) }
    let operation = BackgroundOperation(
      choice: self.choice, edges: self.edges,
      background: .picture(image, self.color, spill: spill, lightWrap: self.lightWrap))
    return [
      FilterNode(
        .scene(operation), byteCost: MatteBackdrop.byteCount(size) + (image?.byteCount ?? 0))
    ]
  }
}

/// The blur of the background behind people.
package struct BackgroundBlur: SceneFilter {
  package static let name = "backgroundBlur"

  /// Returns the description.
  ///
  /// - Parameter models: The names of the operator's models for mattes.
  package static func description(models: [String]) -> FilterDescription {
    FilterDescription(
      name: Self.name,
      summary: "Blurs the background behind people.",
      category: .blur, reach: .frame, fidelity: .approximation,
      keywords: "hide room bokeh portrait",
      examples: ["backgroundBlur(matte: portrait, sigma: 0.04h)"],
      formula: """
        a c + (1 - a) b, c the frame and a the matte as in virtualBackground. b is the background \
        blurred without the person: blur(w c) / blur(w), w = (1 - a)^2 with a the greatest of 3x3 \
        pixels; blur is a Gaussian of sigma by three boxes, on means of at least the pixels of a \
        picture of at most 320x180. While the matte is not sure, the whole frame is blurred by \
        sigma or height / 18, whichever is more. Matte portrait: head and shoulders guessed from \
        the face and adapted to the colours by GrabCut (Rother, Kolmogorov and Blake 2004), at \
        160x90 and every third frame at most; it loses hair and hats before busy rooms, does not \
        protect, and leaves frames without a sure matte unchanged. Detections as virtualBackground
        """,
      parameters: [
        ParameterDescription(
          "sigma", .length, default: .length(Length(0.0167, .height)), slider: 0 ... 60,
          limits: 0 ... 1024, unit: .pixels,
          "The standard deviation; 12 pixels of 720 by default.")
      ]
        + MatteChoice.parameters(
          [MatteTools.plate, MatteTools.key, MatteTools.portraitName] + models, portrait: true))
  }

  package let description: FilterDescription
  private let choice: MatteChoice
  private let edges: MatteEdges
  private let sigma: Length

  package init(_ arguments: Arguments, mattes: MatteTools) {
    self.description = Self.description(models: mattes.models.keys.sorted())
    self.choice = MatteChoice(arguments, mattes)
    self.edges = MatteEdges(position: arguments.number("edge"))
    self.sigma = arguments.length("sigma")
  }

  package var unavailability: String? { self.choice.unavailability }
  package var protects: Bool { self.choice.protects }

  package func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let sigma = min(self.sigma.pixels(in: geometry.size), 1024)
    return [
      .scene(
        BackgroundOperation(
          choice: self.choice, edges: self.edges, background: .blur(sigma: sigma)))
    ]
  }
}
