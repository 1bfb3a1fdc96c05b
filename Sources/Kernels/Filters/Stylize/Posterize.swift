/// Leaves each channel a few levels.
public struct Posterize: CatalogueFilter {
  public static let description = FilterDescription(
    name: "posterize",
    summary: "Reduces each channel to a number of levels.",
    category: .stylize, reach: .pixel, fidelity: .modelled,
    formula: "c' = min(floor(c * levels), levels - 1) / (levels - 1), c within 0 ... 1",
    parameters: [
      ParameterDescription(
        "levels", .number, default: .number(6), slider: 2 ... 30, limits: 2 ... 256,
        "How many levels; rounded to a whole number.")
    ])

  private let levels: Double

  public init(_ arguments: Arguments) {
    self.levels = arguments.number("levels").rounded()
  }

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [.colorKernel(Kernel(levels: Float(self.levels)))]
  }

  private struct Kernel: ColorKernel {
    let levels: Float

    func callAsFunction(_ pixel: Pixel, at place: Place) -> Pixel {
      func step(_ value: Float) -> Float {
        let level = (min(max(value, 0), 1) * self.levels).rounded(.down)
        return min(level, self.levels - 1) / (self.levels - 1)
      }
      return Pixel(
        red: step(pixel.red), green: step(pixel.green), blue: step(pixel.blue),
        alpha: pixel.alpha)
    }
  }
}
