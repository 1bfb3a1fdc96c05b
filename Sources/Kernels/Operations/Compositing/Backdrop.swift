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
  package func placed(
    _ fit: PictureFit, in size: FrameSize, _ space: WorkingSpace
  ) -> PlacedBackdrop? {
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
        .source(SourceKernel(space: space, reference: reference, apply: apply)), byteCost: byteCost)
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

extension FilterNode {
  /// A function of a pixel and of the pixels of other pictures at the same position.
  ///
  /// - Parameters:
  ///   - pictures: The pictures; `nil` for one that is transparent everywhere.
  ///   - nanosecondsPerPixel: The estimated time of a pixel on one thread.
  ///   - byteCost: The memory of the function, in bytes.
  ///   - reference: The definition for one pixel: `pixel` is straight, the others premultiplied.
  ///   - apply: The implementation for a strip: `strip` is straight, the others premultiplied.
  package static func composition(
    of pictures: [PlacedBackdrop?], nanosecondsPerPixel: Double, byteCost: Int,
    reference:
      @escaping @Sendable (
        _ pixel: SIMD4<Double>, _ others: [SIMD4<Double>], _ x: Int, _ y: Int, FrameTime
      ) -> SIMD4<Double>,
    apply: @escaping @Sendable (_ strip: Strip, _ others: [Strip]) -> Void
  ) -> FilterNode {
    var space: WorkingSpace?
    var bytes = byteCost
    for case let picture? in pictures {
      switch picture {
      case .source(let source): space = source
      case .image(let image): bytes += image.byteCount
      }
    }
    let others: @Sendable (Int, Int, SIMD4<Double>) -> [SIMD4<Double>] = { x, y, source in
      pictures.map { picture in
        switch picture {
        case .source?: source
        case .image(let image)?: image.pixel(x, y)
        case nil: .zero
        }
      }
    }
    guard let space else {
      let kernel = StripKernel(nanosecondsPerPixel: nanosecondsPerPixel) { pixel, x, y, time in
        reference(pixel, others(x, y, .zero), x, y, time)
      } apply: { strip in
        Self.load(pictures[...], [], strip, source: nil, apply)
      }
      return FilterNode(.kernel(kernel), byteCost: bytes)
    }
    let kernel = SourceKernel(space: space) { pixel, source, x, y in
      reference(pixel, others(x, y, source), x, y, FrameTime())
    } apply: { strip, source in
      Self.load(pictures[...], [], strip, source: source, apply)
    }
    return FilterNode(.source(kernel), byteCost: bytes)
  }

  /// Loads pictures for a strip, and calls `apply` with them.
  private static func load(
    _ pictures: ArraySlice<PlacedBackdrop?>, _ loaded: [Strip], _ strip: Strip, source: Strip?,
    _ apply: (_ strip: Strip, _ others: [Strip]) -> Void
  ) {
    guard let picture = pictures.first else { return apply(strip, loaded) }
    let rest = pictures.dropFirst()
    if case .source? = picture, let source {
      return Self.load(rest, loaded + [source], strip, source: source, apply)
    }
    ScratchStrip.with(strip) { other in
      if case .image(let image)? = picture {
        image.load(other)
      } else {
        unsafe other.forEachChannel { unsafe $0.update(repeating: 0, count: strip.count) }
      }
      Self.load(rest, loaded + [other], strip, source: source, apply)
    }
  }
}

extension ParameterDescription {
  /// The name of an image. The default of an optional image is "", which disables it.
  package static func image(_ name: String, isOptional: Bool = false, _ summary: String) -> Self {
    ParameterDescription(
      name, .asset, default: isOptional ? .text("") : nil, assetKind: .image, summary)
  }

  /// The name of an image, or `source` for the frame before the first stage.
  package static func backdrop(_ name: String, isOptional: Bool = false, _ summary: String) -> Self {
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
