import CKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Raises the channels to a power: darkens or brightens the midtones.
public struct GammaAdjust: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  public static let description = FilterDescription(
    name: "gammaAdjust",
    summary: "Adjusts the brightness of the midtones.",
    category: .color, reach: .pixel, fidelity: .formula,
    formula: "rgb' = max(rgb, 0)^power",
    parameters: [
      ParameterDescription(
        "power", .number, default: .number(1), slider: 0.25 ... 4, limits: 0.01 ... 16,
        "Above 1 darkens the midtones, below 1 brightens them; 1 changes nothing.")
    ])

  private let power: Double

  /// Reads the settings.
  public init(_ arguments: Arguments) {
    self.power = arguments.number("power")
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  public func nodes(for geometry: FrameGeometry) -> [Node] {
    guard self.power != 1 else { return [] }
    let exponent = self.power
    let kernel = StripKernel { pixel, _, _, _ in
      func raised(_ value: Double) -> Double { pow(max(value, 0), exponent) }
      return [raised(pixel.x), raised(pixel.y), raised(pixel.z), pixel.w]
    } apply: { strip in
      let rows = unsafe sl_rows_current()
      unsafe strip.forEachColor { channel in
        unsafe rows.pointee.power(channel, strip.count, Float(exponent))
      }
    }
    return [Node(.kernel(kernel))]
  }
}
