import CKernels

/// A reduction of channels to a number of levels.
struct Posterize: ArgumentFilter {
  static let description = FilterDescription(
    name: "posterize",
    summary: "Reduces each channel to a number of levels, for a poster-like look.",
    category: .stylize, reach: .pixel, fidelity: .modelled,
    keywords: "pop art",
    examples: ["posterize(levels: 4)"],
    formula: """
      c' = round(clamp(c) * (n - 1)) / (n - 1) for each channel, n = round(levels); halves, and \
      values up to .0001 below, are rounded up
      """,
    parameters: [
      ParameterDescription(
        "levels", .number, default: .number(6), slider: 2 ... 30, limits: 2 ... 256,
        "The number of levels of each channel, with black and white.")
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let steps = self.arguments.number("levels").rounded() - 1
    let kernel = StripKernel { pixel, _, _, _ in
      let clamped = pixel.clamped(lowerBound: .zero, upperBound: .one)
      let levels = (clamped * steps + 0.5001).rounded(.down) / steps
      return SIMD4(levels.x, levels.y, levels.z, pixel.w)
    } apply: { strip in
      let rows = unsafe sl_rows_current()
      unsafe strip.forEachColor { channel in
        unsafe rows.pointee.posterize(channel, strip.count, Float(steps))
      }
    }
    return [FilterNode(.kernel(kernel))]
  }
}
