import CKernels

/// A composition of the picture and a background, weighted by a mask.
struct BlendWithMask: ArgumentFilter, SpaceDependentFilter {
  static let description = FilterDescription(
    name: "blendWithMask",
    summary: "Shows the picture where a mask is white, and a background where it is black.",
    category: .compositing, reach: .pixel, fidelity: .formula, isCoreImage: true,
    examples: ["blendWithMask(backgroundImage: picture.png, maskImage: mask.png)"],
    formula: """
      o + (s - o) m, colour multiplied by alpha, and alpha too; s the picture, o the background \
      (by default transparent, or black in an opaque picture), m the mask's Rec. 709 luma times \
      its alpha
      """,
    parameters: [
      .backdrop(
        "backgroundImage", isOptional: true,
        "The name of the background image, or source: the frame before the first stage. None by "
          + "default."),
      .image("maskImage", "The name of the mask."),
      .fit(default: .stretch, "How both images are fitted into the frame."),
    ])

  let arguments: Arguments

  /// The nodes in a working space: the background is converted to it. The mask is not, because it
  /// holds weights and not colours.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    let size = geometry.size
    let fit = PictureFit(rawValue: self.arguments.text("fit")) ?? .stretch
    guard
      let mask = self.arguments.image("maskImage")?.placed(
        x: 0, y: 0, width: Double(size.width), height: Double(size.height), fit: fit, in: size,
        .sRGBGamma)
    else { return [] }
    let isOpaque = geometry.isOpaque
    let background = Backdrop("backgroundImage", of: self.arguments)?
      .placed(fit, in: size, space)
    let node = background.node(
      byteCost: mask.byteCount,
      reference: { pixel, other, x, y in
        let luma = (mask.pixel(x, y) * [0.2126, 0.7152, 0.0722, 0]).sum()
        return (other + (pixel.premultiplied - other) * luma).straight(isOpaque: isOpaque)
      }, apply: Self.blend(mask, isOpaque: isOpaque))
    return [node]
  }

  private static func blend(_ mask: PlacedImage, isOpaque: Bool) -> SourceKernel.Apply {
    { strip, other in
      ScratchStrip.with(strip) { luma in
        mask.load(luma)
        for index in 0 ..< strip.count {
          unsafe luma.red[index] =
            0.2126 * luma.red[index] + 0.7152 * luma.green[index] + 0.0722 * luma.blue[index]
        }
        unsafe sl_rows_current().pointee.blend_with_mask(
          strip.red, strip.green, strip.blue, strip.alpha, other.red, other.green, other.blue,
          other.alpha, luma.red, strip.count, isOpaque ? 1 : 0)
      }
    }
  }
}
