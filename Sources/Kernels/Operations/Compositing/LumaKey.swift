import CKernels

/// The replacement of dark or bright pixels by a background.
struct LumaKey: ArgumentFilter, SpaceDependentFilter {
  static let description = FilterDescription(
    name: "lumaKey",
    summary: "Replaces dark or bright pixels by an image, the source frame, a colour or nothing.",
    category: .compositing, reach: .pixel, fidelity: .formula,
    keywords: "remove background transparent",
    examples: ["lumaKey(low: 0.25, high: 0.45, backgroundImage: picture.png)"],
    formula: """
      o + (s - o) m, colour multiplied by alpha, and alpha too; s the picture, o the background (by \
      default transparent, or black in an opaque picture); m = smoothstep(low, high, Y), with \
      invert 1 - m; Y = .2126 r + .7152 g + .0722 b of straight colour, 0 where alpha is 0
      """,
    parameters: [
      ParameterDescription(
        "low", .number, default: .number(0.1), slider: 0 ... 1, limits: -1 ... 2,
        "The luma up to which pixels are replaced; with invert, kept."),
      ParameterDescription(
        "high", .number, default: .number(0.2), slider: 0 ... 1, limits: -1 ... 2,
        "The luma from which pixels are kept; with invert, replaced. In effect at least 0.001 more "
          + "than low."),
      ParameterDescription(
        "invert", .flag, default: .flag(false), "Whether bright pixels are replaced, not dark ones."
      ),
      .backdrop(
        "backgroundImage", isOptional: true,
        "The name of the background image, or source: the frame before the first stage. None by "
          + "default."),
      ParameterDescription(
        "backgroundColor", .color,
        default: .color(RGBAColor(red: 0, green: 0, blue: 0, alpha: 0)),
        "The colour behind the background image, or instead of it; transparent by default."),
      .fit(default: .fill, "How the background image is fitted into the frame."),
    ])

  /// The minimum width of the transition.
  private static let minTransition = 0.001

  let arguments: Arguments

  /// The nodes in a working space: the background image is converted to it.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    let isOpaque = geometry.isOpaque
    let low = self.arguments.number("low")
    let key = LumaRamp(
      low: low, high: max(self.arguments.number("high"), low + Self.minTransition),
      isInverted: self.arguments.flag("invert"))
    let color = self.arguments.color("backgroundColor")
    let premultiplied = SIMD4(color.red, color.green, color.blue, color.alpha).premultiplied
    let fit = PictureFit(rawValue: self.arguments.text("fit")) ?? .fill
    let background = Backdrop("backgroundImage", of: self.arguments)?
      .placed(fit, in: geometry.size, space)
    let node = background.node(byteCost: 0) { pixel, other, _, _ in
      let other = other + premultiplied * (1 - other.w)
      return (other + (pixel.premultiplied - other) * key(pixel)).straight(isOpaque: isOpaque)
    } apply: { strip, other in
      unsafe sl_rows_current().pointee.luma_key(
        strip.red, strip.green, strip.blue, strip.alpha, other.red, other.green, other.blue,
        other.alpha, strip.count, key.row(color: premultiplied), isOpaque ? 1 : 0)
    }
    return [node]
  }
}

/// The share of the picture, from its luma: smoothstep(low, high, Y), or 1 minus it.
struct LumaRamp: Sendable, Hashable {
  let low: Double
  /// More than ``low``.
  let high: Double
  let isInverted: Bool

  /// Returns the share of a pixel of straight colour, 0 ... 1.
  func callAsFunction(_ pixel: SIMD4<Double>) -> Double {
    let luma = pixel.w > 0 ? 0.2126 * pixel.x + 0.7152 * pixel.y + 0.0722 * pixel.z : 0
    let t = min(max((luma - self.low) / (self.high - self.low), 0), 1)
    let share = t * t * (3 - 2 * t)
    return self.isInverted ? 1 - share : share
  }

  /// The constants of the C row, with a premultiplied background colour.
  func row(color: SIMD4<Double>) -> sl_luma_key {
    sl_luma_key(
      low: Float(self.low), scale: Float(1 / (self.high - self.low)),
      inverted: self.isInverted ? 1 : 0,
      color: (Float(color.x), Float(color.y), Float(color.z), Float(color.w)))
  }
}
