#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A change of exposure.
struct ExposureAdjust: CatalogueFilter {
  static let description = FilterDescription(
    name: "exposureAdjust",
    summary: "Adjusts the exposure in f-stops.",
    category: .color, reach: .pixel, fidelity: .formula, isCoreImage: true,
    keywords: "brighter darker brightness light",
    examples: ["exposureAdjust(ev: 0.7)", "exposureAdjust(ev: -1)"],
    formula: "rgb' = rgb * 2^ev, on gamma-encoded colour; in linear light with `@linear`",
    parameters: [
      ParameterDescription(
        "ev", .number, default: .number(0), slider: -10 ... 10, limits: -20 ... 20, unit: .stops,
        "The number of doublings; 0 changes nothing.")
    ])

  private let ev: Double

  init(_ arguments: Arguments) {
    self.ev = arguments.number("ev")
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.matrix(.scaling(SIMD3(repeating: exp2(self.ev))))]
  }
}
