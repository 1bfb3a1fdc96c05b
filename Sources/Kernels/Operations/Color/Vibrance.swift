import CKernels

/// Saturates what is dull more than what is not, and skin hardly.
struct Vibrance: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "vibrance",
    summary: "Adjusts the saturation while keeping saturated colours and the tones of skin.",
    category: .color, reach: .pixel, fidelity: .modelled,
    formula: """
      rgb' = Y + max(0, 1 + amount * (1 - s) * (1 - k)) * (rgb - Y), \
      s = clamp(max(r, g, b) - min(r, g, b)), Y = .2126 r + .7152 g + .0722 b; k holds skin back: \
      .75 * max(0, 1 - 2.5 * |(g - b) / (r - b) - .45|) where r >= g >= b, else 0
      """,
    parameters: [
      ParameterDescription(
        "amount", .number, default: .number(0), slider: -1 ... 1, limits: -8 ... 8,
        "How much more colour dull pixels get; 0 changes nothing.")
    ])

  private let amount: Double

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.amount = arguments.number("amount")
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    guard self.amount != 0 else { return [] }
    let amount = self.amount
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
    return [Node(.kernel(kernel))]
  }

  /// How much the pixel is like skin, 0 to .75: of every shade it has green a little below the middle
  /// between blue and red.
  private static func skin(_ pixel: SIMD4<Double>) -> Double {
    guard pixel.x >= pixel.y, pixel.y >= pixel.z else { return 0 }
    let place = (pixel.y - pixel.z) / max(pixel.x - pixel.z, 1e-6)
    return 0.75 * max(0, 1 - 2.5 * abs(place - 0.45))
  }
}
