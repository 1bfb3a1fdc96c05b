/// Multiplies the picture by noise, as film does.
public struct Grain: CatalogueFilter {
  public static let description = FilterDescription(
    name: "grain",
    summary: "Multiplies the colours by noise.",
    category: .effect, reach: .pixel, fidelity: .formula,
    formula: """
      rgb' = rgb * (1 - amount * n), n of 256 equally likely values 0 ... 1 by a hash of seed, frame \
      number and place: the same on every run and machine. Alpha is kept
      """,
    parameters: [
      ParameterDescription(
        "amount", .number, default: .number(0.03), slider: 0 ... 1, limits: 0 ... 1,
        "How much of the light the noise may take; 0 changes nothing."),
      ParameterDescription(
        "seed", .number, default: .number(0), slider: 0 ... 1000, limits: 0 ... 1_000_000_000,
        "Another seed, another noise; whole numbers."),
      ParameterDescription(
        "monochrome", .flag, default: .flag(true),
        "Whether the channels share their noise."),
    ])

  private let amount: Double
  private let seed: UInt64
  private let isMonochrome: Bool

  public init(_ arguments: Arguments) {
    self.amount = arguments.number("amount")
    self.seed = UInt64(arguments.number("seed"))
    self.isMonochrome = arguments.flag("monochrome")
  }

  /// Monochrome grain of an amount.
  init(amount: Double) {
    self.amount = amount
    self.seed = 0
    self.isMonochrome = true
  }

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    guard self.amount > 0 else { return [] }
    guard !self.isMonochrome else { return [.field(.grain(amount: self.amount, seed: self.seed))] }
    // A seed of its own for each channel.
    let grains = (0 ..< 3).map { channel in
      GrainField(amount: self.amount, seed: self.seed &* 3 &+ channel &+ 0x5eed)
    }
    return [.colorKernel(Kernel(red: grains[0], green: grains[1], blue: grains[2]))]
  }

  private struct Kernel: ColorKernel {
    let red: GrainField
    let green: GrainField
    let blue: GrainField

    func callAsFunction(_ pixel: Pixel, at place: Place) -> Pixel {
      func noise(_ grain: GrainField) -> Float {
        Float(grain.value(x: place.x, y: place.y, moment: FrameMoment(index: place.frame)))
      }
      return Pixel(
        red: pixel.red * noise(self.red), green: pixel.green * noise(self.green),
        blue: pixel.blue * noise(self.blue), alpha: pixel.alpha)
    }
  }
}
