import CKernels

/// Shifts of colour in the shadows, the midtones and the highlights.
struct ColorBalance: CatalogueFilter {
  static let description = FilterDescription(
    name: "colorBalance",
    summary: "Shifts colours, with separate shifts for shadows, midtones and highlights.",
    category: .color, reach: .pixel, fidelity: .formula,
    keywords: "grade tint",
    examples: ["colorBalance(shadows: [-0.4, 0, 0.5], highlights: [0.5, 0.1, -0.4])"],
    formula: """
      rgb' = rgb + .5 * ((1 - y)^2 * shadows + 2 y (1 - y) * midtones + y^2 * highlights), y = \
      clamp(.2126 r + .7152 g + .0722 b). With keepsLuma the luma of the sum is subtracted from it. \
      The weights add up to 1: three equal shifts add half of themselves to every pixel
      """,
    parameters: [
      Self.shift("shadows", "dark"), Self.shift("midtones", "of middle brightness"),
      Self.shift("highlights", "bright"),
      ParameterDescription(
        "keepsLuma", .flag, default: .flag(true),
        "Whether the luma of pixels stays, so that only their colour changes."),
    ])

  /// The shift of a colour at weight 1, as a share of the parameter.
  private static let scale = 0.5
  private static let lumaWeights = SIMD3(0.2126, 0.7152, 0.0722)

  private static func shift(_ name: String, _ pixels: String) -> ParameterDescription {
    ParameterDescription(
      name, .vector(count: 3), default: .vector([0, 0, 0]), slider: -1 ... 1, limits: -4 ... 4,
      "The shift of red, green and blue where pixels are \(pixels); zeros change nothing.")
  }

  /// The coefficients of 1, y and y^2 in the sum of the shifts.
  private let coefficients: [SIMD3<Double>]

  init(_ arguments: Arguments) {
    let keepsLuma = arguments.flag("keepsLuma")
    func shift(_ name: String) -> SIMD3<Double> {
      let values = arguments.vector(name)
      let shift = SIMD3(values[0], values[1], values[2]) * Self.scale
      return keepsLuma ? shift - SIMD3(repeating: (shift * Self.lumaWeights).sum()) : shift
    }
    let (shadows, midtones, highlights) = (
      shift("shadows"), shift("midtones"), shift("highlights")
    )
    self.coefficients = [shadows, 2 * (midtones - shadows), shadows - 2 * midtones + highlights]
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let coefficients = self.coefficients
    guard coefficients.contains(where: { $0 != .zero }) else { return [] }
    // Three equal shifts add a constant, which folds.
    if coefficients[1] == .zero, coefficients[2] == .zero {
      var matrix = ColorMatrix.identity
      matrix.bias = SIMD4(coefficients[0], 0)
      return [.matrix(matrix)]
    }
    let floats = (0 ..< 3).flatMap { channel in
      coefficients.map { Float($0[channel]) }
    }
    let kernel = StripKernel { pixel, _, _, _ in
      let color = SIMD3(pixel.x, pixel.y, pixel.z)
      let luma = min(max((color * Self.lumaWeights).sum(), 0), 1)
      let result = color + coefficients[0] + luma * (coefficients[1] + luma * coefficients[2])
      return SIMD4(result, pixel.w)
    } apply: { strip in
      unsafe floats.withUnsafeBufferPointer { floats in
        unsafe sl_rows_current().pointee.add_by_luma(
          strip.red, strip.green, strip.blue, strip.count, floats.baseAddress.unsafelyUnwrapped)
      }
    }
    return [FilterNode(.kernel(kernel))]
  }
}
