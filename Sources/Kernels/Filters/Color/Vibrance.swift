import CKernels

/// Saturates what is dull more than what is not.
struct Vibrance: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "vibrance",
    summary: "Adjusts the saturation while keeping saturated colours as they are.",
    category: .color, reach: .pixel, fidelity: .modelled,
    formula: """
      rgb' = Y + max(0, 1 + amount * (1 - s)) * (rgb - Y), s = clamp(max(r, g, b) - min(r, g, b)), \
      Y = .2126 r + .7152 g + .0722 b
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
      let gain = max(0, 1 + amount * (1 - min(max(spread, 0), 1)))
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
}
