/// The other picture of a composition.
enum Backdrop: Sendable {
  /// The frame as it came in.
  case source
  /// An image.
  case image(ImageAsset)

  /// The picture that the parameter of that name names; `nil` if it names none.
  init?(_ name: String, of arguments: Arguments) {
    if arguments.text(name) == Asset.sourceName {
      self = .source
    } else if let image = arguments.image(name) {
      self = .image(image)
    } else {
      return nil
    }
  }

  /// The picture brought into frames of a size; `nil` if nothing of it is in the frame.
  func placed(_ fit: PictureFit, in size: FrameSize, _ space: WorkingSpace) -> PlacedBackdrop? {
    switch self {
    case .source: .source(space)
    case .image(let image):
      image.placed(
        x: 0, y: 0, width: Double(size.width), height: Double(size.height), fit: fit, in: size,
        space
      ).map { .image($0) }
    }
  }
}

/// The other picture of a composition, in its place.
enum PlacedBackdrop: Sendable {
  case source(WorkingSpace)
  case image(PlacedImage)

  /// A node that makes each pixel from itself and the other picture's.
  ///
  /// - Parameters:
  ///   - skips: Whether pixels where the image is not stay as they are.
  ///   - byteCost: What the functions hold in memory, in bytes.
  ///   - reference: One pixel: straight, and the other's premultiplied.
  ///   - apply: A strip: straight, and the other's premultiplied, which is scratch.
  func node(
    skips: Bool = false, beside byteCost: Int = 0,
    reference: @escaping SourceKernel.Reference, apply: @escaping SourceKernel.Apply
  ) -> Node {
    switch self {
    case .source(let space):
      return Node(
        .source(SourceKernel(space: space, reference: reference, apply: apply)), byteCost: byteCost)
    case .image(let image):
      let kernel = StripKernel { pixel, x, y, _ in
        reference(pixel, image.pixel(x, y), x, y)
      } apply: { strip in
        // Most of a frame lies beside a sticker.
        guard !skips || image.meets(strip) else { return }
        ScratchStrip.with(strip) { other in
          image.load(other)
          apply(strip, other)
        }
      }
      return Node(.kernel(kernel), byteCost: byteCost + image.byteCount)
    }
  }
}

extension ParameterDescription {
  /// The name of an image; with a default of "", none need be given.
  static func image(_ name: String, isOptional: Bool = false, _ summary: String) -> Self {
    ParameterDescription(
      name, .asset, default: isOptional ? .text("") : nil, assetKind: .image, summary)
  }

  /// The name of an image, or of the frame as it came in.
  static func backdrop(_ name: String, isOptional: Bool = false, _ summary: String) -> Self {
    ParameterDescription(
      name, .asset, default: isOptional ? .text("") : nil, assetKind: .image, acceptsSource: true,
      summary)
  }

  /// How an image is brought into the frame or a rectangle.
  static func fit(default fit: PictureFit, _ summary: String) -> Self {
    ParameterDescription(
      "fit", .choice(PictureFit.allCases.map(\.rawValue)), default: .text(fit.rawValue), summary)
  }
}
