import SidelightServer

struct Scanlines: CatalogueFilter {
  static let description = FilterDescription(
    name: "scanlines", summary: "Darkens every other row.",
    category: .custom, reach: .pixel, fidelity: .custom,
    formula: "rgb' = rgb * (1 - amount) in odd rows",
    parameters: [
      ParameterDescription(
        "amount", .number, default: .number(0.4), slider: 0 ... 1, limits: 0 ... 1,
        "The darkening; 0 changes nothing.")
    ])

  private let amount: Double

  init(_ arguments: Arguments) {
    self.amount = arguments.number("amount")
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    guard self.amount > 0 else { return [] }
    return [.colorKernel(Kernel(oddRows: Float(1 - self.amount)))]
  }

  private struct Kernel: ColorKernel {
    let oddRows: Float

    func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel {
      let light: Float = position.y.isMultiple(of: 2) ? 1 : self.oddRows
      return Pixel(
        red: pixel.red * light, green: pixel.green * light, blue: pixel.blue * light,
        alpha: pixel.alpha)
    }
  }
}
