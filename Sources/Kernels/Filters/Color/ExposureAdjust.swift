#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Brightens or darkens as a longer or shorter exposure would.
public struct ExposureAdjust: CatalogueFilter {
  public static let description = FilterDescription(
    name: "exposureAdjust",
    summary: "Multiplies the light by a power of two.",
    category: .color, reach: .pixel, fidelity: .formula,
    formula: """
      rgb' = rgb * 2^ev in the working space; choose the linear one for what a camera would do
      """,
    parameters: [
      ParameterDescription(
        "ev", .number, default: .number(0), slider: -10 ... 10, limits: -16 ... 16, unit: .stops,
        "Doublings of light; 0 changes nothing.")
    ])

  private let ev: Double

  public init(_ arguments: Arguments) {
    self.ev = arguments.number("ev")
  }

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    let gain = exp2(self.ev)
    return [.matrix(.scaling(SIMD3(gain, gain, gain)))]
  }
}
