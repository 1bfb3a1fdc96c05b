import CKernels

/// An edge detector.
struct Edges: ArgumentFilter {
  static let description = FilterDescription(
    name: "edges",
    summary: "Shows the edges of the picture in colour, on black.",
    category: .stylize, reach: .neighborhood, fidelity: .modelled, isCoreImage: true,
    formula: """
      c' = intensity * sqrt(gx^2 + gy^2) / 4 for each of r, g, b, gx and gy the Sobel differences \
      over 3x3 pixels: a step from black to white becomes white. Edges of the frame are clamped; \
      colour is premultiplied and limited to 2 alpha, alpha is kept
      """,
    parameters: [
      ParameterDescription(
        "intensity", .number, default: .number(1), slider: 0 ... 10, limits: 0 ... 256,
        "The brightness of the edges; 0 is black.")
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let scale = Float(self.arguments.number("intensity") / 4)
    return [.neighborhoodKernel(Sobel(scale: scale, hasAlpha: !geometry.isOpaque))]
  }

  private struct Sobel: SymmetricKernel {
    let scale: Float
    let hasAlpha: Bool
    var reach: Int { 1 }

    func callAsFunction(_ window: PixelWindow, at position: PixelPosition) -> Pixel {
      func edge(_ channel: (Pixel) -> Float) -> Float {
        func at(_ dx: Int, _ dy: Int) -> Float { channel(window[dx, dy]) }
        let x = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
        let y = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1)
        return (x * x + y * y).squareRoot() * self.scale
      }
      let pixel = Pixel(
        red: edge(\.red), green: edge(\.green), blue: edge(\.blue), alpha: window[0, 0].alpha)
      return self.hasAlpha ? pixel.limitedByAlpha : pixel
    }

    func apply(_ window: PixelWindow, to strip: ColorStrip) {
      let rows = unsafe sl_rows_current().pointee
      let outputs = unsafe [strip.red, strip.green, strip.blue]
      for plane in 0 ..< 3 {
        unsafe window.withRows(of: strip, plane: plane) { window, _, offset in
          unsafe rows.sobel(window, offset, strip.count, self.scale, outputs[plane])
        }
      }
      window.copyAlpha(to: strip, limitsColor: self.hasAlpha)
    }
  }
}
