import CKernels

/// A warm glow of bright pixels.
struct Glow: ArgumentFilter {
  static let description = FilterDescription(
    name: "glow",
    summary: "Adds a warm glow to bright pixels.",
    category: .effect, reach: .pixel, fidelity: .formula,
    formula: """
      Y = .2126 r + .7152 g + .0722 b; t = smoothstep(.5, 1, Y) * intensity; \
      rgb' = rgb + ((1, .95, .8) - rgb) * t; alpha is kept. Pixels with Y <= .5 do not change
      """,
    parameters: [
      ParameterDescription(
        "intensity", .number, default: .number(0.6), slider: 0 ... 1, limits: -8 ... 8,
        "The strength; 0 changes nothing.")
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let intensity = self.arguments.number("intensity")
    guard intensity != 0 else { return [] }
    let pixels = unsafe PixelFunction { input, count, red, output in
      unsafe sl_rows_current().pointee.glow_pixels(input, count, red, Float(intensity), output)
    }
    let kernel = StripKernel(pixels: pixels) { pixel, _, _, _ in
      let luma = 0.2126 * pixel.x + 0.7152 * pixel.y + 0.0722 * pixel.z
      let t = min(max((luma - 0.5) / 0.5, 0), 1)
      let amount = t * t * (3 - 2 * t) * intensity
      let glow: SIMD4<Double> = [1, 0.95, 0.8, pixel.w]
      return pixel + (glow - pixel) * amount
    } apply: { strip in
      unsafe sl_rows_current().pointee.glow(
        strip.red, strip.green, strip.blue, strip.count, Float(intensity))
    }
    return [FilterNode(.kernel(kernel))]
  }
}
