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
