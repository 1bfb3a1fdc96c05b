/// Lets the highlights glow in a warm white.
public struct Glow: CatalogueFilter {
  public static let description = FilterDescription(
    name: "glow",
    summary: "Mixes bright colours with a warm white.",
    category: .effect, reach: .pixel, fidelity: .formula,
    formula: """
      Y = .2126 r + .7152 g + .0722 b; g = smoothstep(.5, 1, Y) * intensity; rgb' = mix(rgb, \
      (1, .95, .8), g); alpha is kept. Y <= .5 is left alone
      """,
    parameters: [
      ParameterDescription(
        "intensity", .number, default: .number(0.6), slider: 0 ... 1, limits: -8 ... 8,
        "How far white goes towards the glow; 0 changes nothing.")
    ])

  private let intensity: Double

  public init(_ arguments: Arguments) {
    self.intensity = arguments.number("intensity")
  }

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    self.intensity == 0 ? [] : [.colorKernel(Kernel(intensity: Float(self.intensity)))]
  }

  private struct Kernel: ColorKernel {
    let intensity: Float

    func callAsFunction(_ pixel: Pixel, at place: Place) -> Pixel {
      let t = min(max((pixel.luma - 0.5) * 2, 0), 1)
      let amount = t * t * (3 - 2 * t) * self.intensity
      return Pixel(
        red: pixel.red + (1 - pixel.red) * amount,
        green: pixel.green + (0.95 - pixel.green) * amount,
        blue: pixel.blue + (0.8 - pixel.blue) * amount, alpha: pixel.alpha)
    }
  }
}
