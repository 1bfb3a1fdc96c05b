import CKernels

/// A halftone screen of dots.
struct DotScreen: ArgumentFilter {
  static let description = FilterDescription(
    name: "dotScreen",
    summary: "Renders the picture as a halftone screen of dots, in black and white.",
    category: .stylize, reach: .pixel, fidelity: .modelled, isCoreImage: true,
    formula: """
      r' = g' = b' = clamp(Y (k + 1) + (s - 1) k), k = 1 / (1 - sharpness), at most 256; s = .5 + \
      (w(u) + w(v)) / 4, w(t) = 1 - 24 f^2 + 32 f^3, f the distance of t from the nearest whole \
      number; (u, v) the position relative to center, rotated by angle, in widths; Y Rec. 709 \
      luma. Black and white do not change, and middle grey is half black
      """,
    parameters: [
      ParameterDescription(
        "center", .point, default: .point(.center), "The centre of a white dot."),
      ParameterDescription(
        "angle", .number, default: .number(0), slider: -3.141592653589793 ... 3.141592653589793,
        limits: -1000 ... 1000, unit: .radians, "The angle of the screen."),
      ParameterDescription(
        "width", .length, default: .number(6), slider: 2 ... 50, limits: 1 ... 16384,
        unit: .pixels, "The distance between dots."),
      ParameterDescription(
        "sharpness", .number, default: .number(0.7), slider: 0 ... 1, limits: 0 ... 1,
        "The hardness of the dots' edges."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let (x0, y0) = self.arguments.point("center").pixels(in: geometry.size)
    let width = max(self.arguments.length("width").pixels(in: geometry.size), 1)
    let angle = self.arguments.number("angle")
    let (du, dv) = (cos(angle) / width, -sin(angle) / width)
    // At full sharpness the slope is limited to 256.
    let slope = 1 / max(1 - self.arguments.number("sharpness"), 1.0 / 256)
    /// The position of a pixel's centre in periods of the screen.
    let position: @Sendable (Int, Int) -> (Double, Double) = { x, y in
      let (x, y) = (Double(x) + 0.5 - x0, Double(y) + 0.5 - y0)
      return (x * du - y * dv, x * dv + y * du)
    }
    let kernel = StripKernel { pixel, x, y, _ in
      func wave(_ t: Double) -> Double {
        let f = abs(t - t.rounded())
        return 1 - 24 * f * f + 32 * f * f * f
      }
      let (u, v) = position(x, y)
      let screen = 0.5 + (wave(u) + wave(v)) / 4
      let luma = 0.2126 * pixel.x + 0.7152 * pixel.y + 0.0722 * pixel.z
      let ink = min(max(luma * (slope + 1) + (screen - 1) * slope, 0), 1)
      return [ink, ink, ink, pixel.w]
    } apply: { strip in
      let (u, v) = position(strip.x, strip.y)
      // Whole periods are subtracted in double precision.
      let position = [u - u.rounded(), v - v.rounded(), du, dv].map { Float($0) }
      unsafe position.withUnsafeBufferPointer {
        unsafe sl_rows_current().pointee.dot_screen(
          strip.red, strip.green, strip.blue, strip.count, $0.baseAddress.unsafelyUnwrapped,
          Float(slope))
      }
    }
    return [FilterNode(.kernel(kernel))]
  }
}
