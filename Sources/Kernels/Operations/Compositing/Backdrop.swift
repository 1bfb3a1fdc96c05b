/// The second picture of a composition.
package enum Backdrop: Sendable {
  /// The source frame, as it was before the first stage.
  case source
  case image(ImageAsset)

  /// Creates the picture of the named parameter; `nil` if its value isn't a picture.
  package init?(_ name: String, of arguments: Arguments) {
    if arguments.text(name) == Asset.sourceName {
      self = .source
    } else if let image = arguments.image(name) {
      self = .image(image)
    } else {
      return nil
    }
  }

  /// Places the picture in frames of a size; `nil` if it is outside the frame.
  package func placed(_ fit: PictureFit, in size: FrameSize, _ space: WorkingSpace)
    -> PlacedBackdrop?
  {
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

/// The second picture of a composition, placed in frames of one size.
package enum PlacedBackdrop: Sendable {
  case source(WorkingSpace)
  case image(PlacedImage)

  /// Returns a node that computes pixels from themselves and the second picture's pixels.
  ///
  /// - Parameters:
  ///   - skips: Whether strips outside the image are left unchanged.
  ///   - byteCost: The memory of the functions, in bytes.
  ///   - reference: The definition for one pixel: `pixel` is straight, `source` premultiplied.
  ///   - apply: The implementation for a strip: `strip` is straight, `source` premultiplied
  ///     scratch.
  func node(
    skips: Bool = false, byteCost: Int = 0,
    reference: @escaping SourceKernel.Reference, apply: @escaping SourceKernel.Apply
  ) -> FilterNode {
    switch self {
    case .source(let space):
      return FilterNode(
        .source(SourceKernel(.formula(reference), space: space, apply: apply)), byteCost: byteCost)
    case .image(let image):
      let kernel = StripKernel { pixel, x, y, _ in
        reference(pixel, image.pixel(x, y), x, y)
      } apply: { strip in
        // A sticker covers a small part of a frame.
        guard !skips || image.intersects(strip) else { return }
        ScratchStrip.with(strip) { other in
          image.load(other)
          apply(strip, other)
        }
      }
      return FilterNode(.kernel(kernel), byteCost: byteCost + image.byteCount)
    }
  }
}

extension PlacedBackdrop? {
  /// Returns such a node; a missing picture is transparent.
  func node(
    byteCost: Int, reference: @escaping SourceKernel.Reference,
    apply: @escaping SourceKernel.Apply
  ) -> FilterNode {
    if let self { return self.node(byteCost: byteCost, reference: reference, apply: apply) }
    let kernel = StripKernel { pixel, x, y, _ in
      reference(pixel, .zero, x, y)
    } apply: { strip in
      ScratchStrip.with(strip) { backdrop in
        unsafe backdrop.forEachChannel { channel in
          unsafe channel.update(repeating: 0, count: strip.count)
        }
        apply(strip, backdrop)
      }
    }
    return FilterNode(.kernel(kernel), byteCost: byteCost)
  }
}

extension SIMD4<Double> {
  /// The premultiplied form of a straight colour.
  var premultiplied: SIMD4<Double> {
    SIMD4(self.x * self.w, self.y * self.w, self.z * self.w, self.w)
  }

  /// Returns the straight form of a premultiplied colour; in opaque frames it is shown on black.
  func straight(isOpaque: Bool) -> SIMD4<Double> {
    guard !isOpaque else { return self }
    guard self.w > 0 else { return .zero }
    return SIMD4(self.x / self.w, self.y / self.w, self.z / self.w, self.w)
  }
}

extension ParameterDescription {
  /// The name of an image. The default of an optional image is "", which disables it.
  package static func image(_ name: String, isOptional: Bool = false, _ summary: String) -> Self {
    ParameterDescription(
      name, .asset, default: isOptional ? .text("") : nil, assetKind: .image, summary)
  }

  /// The name of an image, or `source` for the frame before the first stage.
  static func backdrop(_ name: String, isOptional: Bool = false, _ summary: String) -> Self {
    ParameterDescription(
      name, .asset, default: isOptional ? .text("") : nil, assetKind: .image, acceptsSource: true,
      summary)
  }

  /// The fit of an image into the frame or a rectangle.
  package static func fit(default fit: PictureFit, _ summary: String) -> Self {
    ParameterDescription(
      "fit", .choice(PictureFit.allCases.map(\.rawValue)), default: .text(fit.rawValue), summary)
  }
}
