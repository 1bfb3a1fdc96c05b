import CKernels

/// Flat tones with dark lines.
struct Cartoon: ArgumentFilter, SpaceDependentFilter {
  static let description = FilterDescription(
    name: "cartoon",
    summary: "Draws the picture in flat, saturated tones with dark lines at edges.",
    category: .stylize, reach: .frame, fidelity: .formula,
    keywords: "comic drawing draw",
    formula: """
      First edgePreservingSmooth(edges: .12). Then (t + 1.25 (rgb - Y)) (1 - lines * smoothstep(.1^2, \
      .35^2, g)), Y the Rec. 709 luma; t = (k + smoothstep(.3, .7, tones * clamp(Y) - k)) / tones, k = \
      floor(tones * clamp(Y)), tones rounded; g = (gx^2 + gy^2) / 16 by the Sobel differences of Y over \
      3x3 pixels. Edges of the frame are clamped; colour is premultiplied and limited to -alpha ... 2 \
      alpha, alpha is kept
      """,
    parameters: [
      ParameterDescription(
        "tones", .number, default: .number(5), slider: 2 ... 12, limits: 1 ... 64,
        "The number of steps between black and white."),
      ParameterDescription(
        "lines", .number, default: .number(0.8), slider: 0 ... 1, limits: 0 ... 1,
        "The darkness of the lines; 0 draws none."),
    ])

  /// The contrast above which the smoothing keeps an edge.
  private static let smoothingEdges = 0.12

  let arguments: Arguments

  /// The nodes in a working space: the smoothing works on gamma-encoded colour.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    let smoothing = GuidedDetailOperation(
      gain: -1, guided: GuidedFilter(epsilon: Self.smoothingEdges * Self.smoothingEdges))
    let tones = Tones(
      tones: Float(self.arguments.number("tones").rounded()),
      lines: Float(self.arguments.number("lines")), hasAlpha: !geometry.isOpaque)
    return smoothing.nodes(in: space) + [.neighborhoodKernel(tones)]
  }

  private struct Tones: SymmetricKernel {
    let tones: Float
    let lines: Float
    let hasAlpha: Bool
    var reach: Int { 1 }

    private static let saturation: Float = 1.25
    /// The share of a step in which one tone becomes the next.
    private static let transition: Float = 0.4
    /// The squared gradients at which a line begins and is full.
    private static let edge: (low: Float, high: Float) = (0.01, 0.1225)

    func callAsFunction(_ window: PixelWindow, at position: PixelPosition) -> Pixel {
      func luma(_ dx: Int, _ dy: Int) -> Float { window[dx, dy].luma }
      func smoothstep(_ t: Float) -> Float {
        let t = min(max(t, 0), 1)
        return t * t * (3 - 2 * t)
      }
      let gx =
        (luma(1, -1) - luma(-1, -1)) + 2 * (luma(1, 0) - luma(-1, 0)) + (luma(1, 1) - luma(-1, 1))
      let gy =
        (luma(-1, 1) - luma(-1, -1)) + 2 * (luma(0, 1) - luma(0, -1)) + (luma(1, 1) - luma(1, -1))
      let edge = smoothstep(
        ((gx * gx + gy * gy) / 16 - Self.edge.low) / (Self.edge.high - Self.edge.low))
      let light = 1 - self.lines * edge
      let middle = window[0, 0]
      let y = middle.luma
      let place = min(max(y, 0), 1) * self.tones
      let step = place.rounded(.down)
      let tone = (step + smoothstep((place - step - 0.5) / Self.transition + 0.5)) / self.tones
      func channel(_ value: Float) -> Float { (tone + (value - y) * Self.saturation) * light }
      let pixel = Pixel(
        red: channel(middle.red), green: channel(middle.green), blue: channel(middle.blue),
        alpha: middle.alpha)
      return self.hasAlpha ? pixel.limitedByAlpha : pixel
    }

    func apply(_ window: PixelWindow, to strip: ColorStrip) {
      var style = sl_cartoon(
        tones: self.tones, softness: 1 / Self.transition, saturation: Self.saturation,
        lines: self.lines, edge_low: Self.edge.low,
        edge_scale: 1 / (Self.edge.high - Self.edge.low))
      unsafe window.withRows(of: strip) { window, planeStride, offset in
        unsafe sl_rows_current().pointee.cartoon(
          window, planeStride, offset, strip.count, &style, strip.red, strip.green, strip.blue)
      }
      window.copyAlpha(to: strip, limitsColor: self.hasAlpha)
    }
  }
}
