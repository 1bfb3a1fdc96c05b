#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Brightens or darkens as a longer or shorter exposure would.
struct ExposureAdjust: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "exposureAdjust",
    summary: "Adjusts the exposure, as the F-stop of a camera does.",
    category: .color, reach: .pixel, fidelity: .formula,
    formula: "rgb' = rgb * 2^ev, on gamma-encoded colour; in linear light with `@linear`",
    parameters: [
      ParameterDescription(
        "ev", .number, default: .number(0), slider: -10 ... 10, limits: -20 ... 20, unit: .stops,
        "Doublings; 0 changes nothing.")
    ])

  private let ev: Double

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.ev = arguments.number("ev")
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    [.matrix(.scaling(SIMD3(repeating: exp2(self.ev))))]
  }
}
