import CKernels

/// Smoothing of noise and sharpening of larger differences.
struct NoiseReduction: ArgumentFilter {
  static let description = FilterDescription(
    name: "noiseReduction",
    summary: "Smooths differences up to the noise level, and sharpens larger ones.",
    category: .stylize, reach: .neighborhood, fidelity: .modelled, isCoreImage: true,
    keywords: "denoise clean",
    examples: ["noiseReduction(noiseLevel: 0.06)"],
    formula: """
      c' = n + sharpness * e; n the mean of the 5x5 pixels around the pixel, each weighted by \
      max(0, 1 - d / (4 noiseLevel))^2, d its greatest difference from the pixel in r, g and b; e \
      = sign(s) max(0, |s| - noiseLevel), s the pixel's Rec. 709 luma less that of the plain mean. \
      Edges are clamped; colour is premultiplied and limited to -alpha ... 2 alpha, alpha is kept. \
      noiseLevel 0 smooths nothing
      """,
    parameters: [
      ParameterDescription(
        "noiseLevel", .number, default: .number(0.02), slider: 0 ... 0.1, limits: 0 ... 1,
        "The greatest difference that counts as noise."),
      ParameterDescription(
        "sharpness", .number, default: .number(0.4), slider: 0 ... 2, limits: 0 ... 64,
        "The weight of the added detail above the noise level."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let noiseLevel = self.arguments.number("noiseLevel")
    let sharpness = self.arguments.number("sharpness")
    guard noiseLevel > 0 || sharpness > 0 else { return [] }
    return [
      .neighborhoodKernel(
        Denoise(
          slope: Float(1 / max(4 * noiseLevel, 1e-6)), level: Float(noiseLevel),
          sharpness: Float(sharpness), hasAlpha: !geometry.isOpaque))
    ]
  }

  private struct Denoise: SymmetricKernel {
    /// The reciprocal of the difference at which a neighbour's weight becomes 0.
    let slope: Float
    let level: Float
    let sharpness: Float
    let hasAlpha: Bool
    var reach: Int { 2 }

    func callAsFunction(_ window: PixelWindow, at position: PixelPosition) -> Pixel {
      let middle = window[0, 0]
      var similar = Pixel(red: 0, green: 0, blue: 0, alpha: 0)
      var total = similar
      func add(_ pixel: Pixel, _ weight: Float, to sum: inout Pixel) {
        sum.red += weight * pixel.red
        sum.green += weight * pixel.green
        sum.blue += weight * pixel.blue
        // The alpha component holds the sum of weights.
        sum.alpha += weight
      }
      for dy in -2 ... 2 {
        for dx in -2 ... 2 {
          let pixel = window[dx, dy]
          let difference = max(
            abs(pixel.red - middle.red), abs(pixel.green - middle.green),
            abs(pixel.blue - middle.blue))
          let similarity = max(0, 1 - difference * self.slope)
          add(pixel, similarity * similarity, to: &similar)
          add(pixel, 1, to: &total)
        }
      }
      let detail = middle.luma - total.luma / 25
      let excess = max(0, abs(detail) - self.level)
      let sharpening = self.sharpness * (detail < 0 ? -excess : excess)
      let pixel = Pixel(
        red: similar.red / similar.alpha + sharpening,
        green: similar.green / similar.alpha + sharpening,
        blue: similar.blue / similar.alpha + sharpening, alpha: middle.alpha)
      return self.hasAlpha ? pixel.limitedByAlpha : pixel
    }

    func apply(_ window: PixelWindow, to strip: ColorStrip) {
      unsafe window.withRows(of: strip) { window, planeStride, offset in
        unsafe sl_rows_current().pointee.denoise(
          window, planeStride, offset, strip.count, self.slope, self.level, self.sharpness,
          strip.red, strip.green, strip.blue)
      }
      window.copyAlpha(to: strip, limitsColor: self.hasAlpha)
    }
  }
}
