#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The space in which filters compute colour.
///
/// Filters compute with colour of the working space: 0.5 is half of the light in linear sRGB, and
/// about a fifth of it in gamma-encoded sRGB. Pictures that filters bring in are converted; numbers
/// and lookup tables of filters are not.
public enum WorkingSpace: String, Sendable, Hashable, CaseIterable {
  /// Gamma-encoded sRGB, as stored in frames.
  case sRGBGamma
  /// Linear light: decoded before the first stage and encoded after the last, by using the transfer
  /// function of IEC 61966-2-1, extended as an odd function to negative values. Values are not
  /// clamped.
  case sRGBLinear
}

extension WorkingSpace {
  /// The format of pictures in this space between passes, for frames of a format.
  ///
  /// In linear light every pixel has its own colour. Subsampled chroma is a mean of gamma-encoded
  /// colours; as a mean of linear colours it would give every pixel of a block the same share of
  /// colour at any brightness, and comb artefacts where it is encoded again.
  package func format(for frame: PixelFormat) -> PixelFormat {
    self == .sRGBLinear && frame.isYUV ? .rgb24 : frame
  }

  /// The function that converts colour from the other space into this one.
  package var inputCurve: ToneCurve { self == .sRGBLinear ? .linearized : .encoded }
}

/// A function per colour channel, computed by using a C row.
package enum ToneCurve: Sendable, Hashable {
  /// |x|^exponent with the sign of x.
  case power(Double)
  /// From gamma-encoded to linear sRGB (IEC 61966-2-1), extended as an odd function.
  case linearized
  /// From linear to gamma-encoded sRGB, the inverse of ``linearized``.
  case encoded

  /// The definition of the curve.
  package func callAsFunction(_ x: Double) -> Double {
    let magnitude = abs(x)
    let result =
      switch self {
      case .power(let exponent): magnitude > 0 ? pow(magnitude, exponent) : 0
      case .linearized:
        magnitude <= 0.04045 ? magnitude / 12.92 : pow((magnitude + 0.055) / 1.055, 2.4)
      case .encoded:
        magnitude <= 0.0031308 ? magnitude * 12.92 : 1.055 * pow(magnitude, 1 / 2.4) - 0.055
      }
    return x < 0 ? -result : result
  }
}
