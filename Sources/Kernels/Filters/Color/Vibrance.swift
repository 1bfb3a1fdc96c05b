/// Saturates colours that are pale more than those that are not.
public struct Vibrance: CatalogueFilter {
  public static let description = FilterDescription(
    name: "vibrance",
    summary: "Adjusts the saturation of pale colours while sparing saturated ones.",
    category: .color, reach: .pixel, fidelity: .modelled,
    formula: """
      rgb' = Y + (rgb - Y) * (1 + amount * (1 - s)), s = max(rgb) - min(rgb) within 0 ... 1, Y the \
      Rec. 709 luma
      """,
    parameters: [
      ParameterDescription(
        "amount", .number, default: .number(0), slider: -1 ... 1, limits: -8 ... 8,
        "How much; 0 changes nothing, less than 0 takes colour away.")
    ])

  private let amount: Double

  public init(_ arguments: Arguments) {
    self.amount = arguments.number("amount")
  }

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    self.amount == 0 ? [] : [.colorKernel(Kernel(amount: Float(self.amount)))]
  }

  private struct Kernel: ColorKernel {
    let amount: Float

    func callAsFunction(_ pixel: Pixel, at place: Place) -> Pixel {
      let luma = pixel.luma
      let most = max(pixel.red, max(pixel.green, pixel.blue))
      let least = min(pixel.red, min(pixel.green, pixel.blue))
      let gain = 1 + self.amount * (1 - min(max(most - least, 0), 1))
      return Pixel(
        red: luma + (pixel.red - luma) * gain, green: luma + (pixel.green - luma) * gain,
        blue: luma + (pixel.blue - luma) * gain, alpha: pixel.alpha)
    }
  }
}
