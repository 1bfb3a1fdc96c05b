import CKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where the numbers of colour are computed with.
///
/// Filters take colour as the working space has it: a half is a half of the light in linear sRGB, and
/// about a fifth of it in gamma-encoded sRGB. Pictures that filters bring in are converted; numbers
/// and tables that filters are given are taken as they are.
public enum WorkingSpace: String, Sendable, Hashable, CaseIterable {
  /// Gamma-encoded sRGB, as frames are stored.
  case sRGBGamma
  /// Linear light: decoded before the first stage and encoded after the last, each pixel by the
  /// transfer function of IEC 61966-2-1, odd about 0; nothing is clamped.
  case sRGBLinear
}

extension WorkingSpace {
  /// How pictures in this space are laid out between passes, for frames of a format.
  ///
  /// In linear light each pixel has a colour of its own. Subsampled chroma is a mean of gamma-encoded
  /// colours: as a mean of linear ones it would give every pixel of a block the same share of colour,
  /// however bright it is, and combs where it is encoded again.
  func format(for frame: PixelFormat) -> PixelFormat {
    self == .sRGBLinear && frame.isYUV ? .rgb24 : frame
  }

  /// The function that brings colour into this space from the other one.
  var entrance: ToneCurve { self == .sRGBLinear ? .linearized : .encoded }
}

/// A function of each colour channel by itself that is computed by a row in C.
package enum ToneCurve: Sendable, Hashable {
  /// |x|^exponent with the sign of x.
  case power(Double)
  /// From gamma-encoded to linear sRGB (IEC 61966-2-1), odd about 0.
  case linearized
  /// From linear to gamma-encoded sRGB.
  case encoded

  /// The curve as it is defined.
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

  /// The curve on strips.
  package var kernel: StripKernel {
    StripKernel(
      reference: { pixel, _, _, _ in [self(pixel.x), self(pixel.y), self(pixel.z), pixel.w] },
      apply: { strip in
        let rows = unsafe sl_rows_current()
        unsafe strip.forEachColor { plane in
          switch self {
          case .power(let exponent):
            unsafe rows.pointee.power(plane, strip.count, Float(exponent))
          case .linearized: unsafe rows.pointee.srgb_to_linear(plane, strip.count)
          case .encoded: unsafe rows.pointee.linear_to_srgb(plane, strip.count)
          }
        }
      })
  }
}
