import CKernels

/// Shows the picture where a mask is white, and a background where it is black.
struct BlendWithMask: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "blendWithMask",
    summary: "Shows the picture where a mask is white, and a background where it is black.",
    category: .compositing, reach: .pixel, fidelity: .formula,
    formula: """
      o + (s - o) m, colour multiplied by alpha, and alpha too; s the picture, o the background \
      (transparent if there is none, or black in an opaque picture), m the mask's Rec. 709 luma times \
      its alpha
      """,
    parameters: [
      .image(
        "backgroundImage", isOptional: true, "The name of the image behind; none by default."),
      .image("maskImage", "The name of the mask."),
      .fit(default: .stretch, "How both images are brought into the frame."),
    ])

  private let background: ImageAsset?
  private let mask: ImageAsset?
  private let fit: PictureFit

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.background = arguments.image("backgroundImage")
    self.mask = arguments.image("maskImage")
    self.fit = PictureFit(rawValue: arguments.text("fit")) ?? .stretch
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    guard let image = self.mask, let mask = PlacedImage(image, fit: self.fit, in: geometry.size)
    else { return [] }
    let background = self.background.flatMap {
      PlacedImage($0, fit: self.fit, in: geometry.size)
    }
    let isOpaque = geometry.isOpaque
    let kernel = StripKernel { pixel, x, y, _ in
      let own = SIMD4(pixel.x * pixel.w, pixel.y * pixel.w, pixel.z * pixel.w, pixel.w)
      let other = background?.pixel(x, y) ?? .zero
      let luma = (mask.pixel(x, y) * [0.2126, 0.7152, 0.0722, 0]).sum()
      let result = other + (own - other) * luma
      guard !isOpaque else { return result }
      guard result.w > 0 else { return .zero }
      return SIMD4(result.x / result.w, result.y / result.w, result.z / result.w, result.w)
    } apply: { strip in
      ScratchStrip.with(strip) { luma in
        mask.load(luma)
        for index in 0 ..< strip.count {
          unsafe luma.red[index] =
            0.2126 * luma.red[index] + 0.7152 * luma.green[index] + 0.0722 * luma.blue[index]
        }
        ScratchStrip.with(strip) { other in
          if let background {
            background.load(other)
          } else {
            unsafe other.forEachChannel { channel in
              unsafe channel.update(repeating: 0, count: strip.count)
            }
          }
          unsafe sl_rows_current().pointee.blend_mask(
            strip.red, strip.green, strip.blue, strip.alpha, other.red, other.green, other.blue,
            other.alpha, luma.red, strip.count, isOpaque ? 1 : 0)
        }
      }
    }
    return [Node(.kernel(kernel))]
  }
}
