import CKernels

/// Saturation that affects dull colours more than saturated colours and skin.
struct Vibrance: ArgumentFilter {
  static let description = FilterDescription(
    name: "vibrance",
    summary: "Adjusts the saturation of dull colours; saturated colours and skin change less.",
    category: .color, reach: .pixel, fidelity: .modelled, isCoreImage: true,
    keywords: "vivid",
    examples: ["vibrance(amount: 1)", "vibrance(amount: -1)"],
    formula: """
      rgb' = Y + max(0, 1 + amount * (1 - s) * (1 - k)) * (rgb - Y), \
      s = clamp(max(r, g, b) - min(r, g, b)), Y = .2126 r + .7152 g + .0722 b; k protects skin: \
      .75 * max(0, 1 - 2.5 * |(g - b) / (r - b) - .45|) where r >= g >= b, else 0
      """,
    parameters: [
      ParameterDescription(
        "amount", .number, default: .number(0), slider: -1 ... 1, limits: -8 ... 8,
        "The added saturation of dull pixels; 0 changes nothing.")
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let amount = self.arguments.number("amount")
    guard amount != 0 else { return [] }
    let kernel = StripKernel { pixel, _, _, _ in
      let luma = 0.2126 * pixel.x + 0.7152 * pixel.y + 0.0722 * pixel.z
      let spread = max(pixel.x, pixel.y, pixel.z) - min(pixel.x, pixel.y, pixel.z)
      let gain = max(0, 1 + amount * (1 - min(max(spread, 0), 1)) * (1 - Self.skin(pixel)))
      return [
        luma + gain * (pixel.x - luma), luma + gain * (pixel.y - luma),
        luma + gain * (pixel.z - luma), pixel.w,
      ]
    } apply: { strip in
      unsafe sl_rows_current().pointee.vibrance(
        strip.red, strip.green, strip.blue, strip.count, Float(amount))
    }
    return [FilterNode(.kernel(kernel))]
  }

  /// The similarity of a pixel to skin, 0 ... 0.75: in skin of every shade, green is slightly below
  /// the middle between blue and red.
  private static func skin(_ pixel: SIMD4<Double>) -> Double {
    guard pixel.x >= pixel.y, pixel.y >= pixel.z else { return 0 }
    let ratio = (pixel.y - pixel.z) / max(pixel.x - pixel.z, 1e-6)
    return 0.75 * max(0, 1 - 2.5 * abs(ratio - 0.45))
  }
}
