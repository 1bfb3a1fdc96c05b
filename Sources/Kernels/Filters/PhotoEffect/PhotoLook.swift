/// Colour matrices that the fixed looks share.
enum PhotoLook {
  /// Rec. 601 luma in all channels.
  static let gray = ColorMatrix.monochrome([0.299, 0.587, 0.114])

  /// Colour differences times a factor, about Rec. 709 luma.
  static func saturation(_ factor: Double) -> ColorMatrix {
    ColorMatrix.monochrome(Grayscale.luma).mixed(1 - factor)
  }

  /// A slope about middle grey.
  static func contrast(_ slope: Double) -> ColorMatrix {
    ColorMatrix.scaling([slope, slope, slope]).followed(
      by: Self.adding(SIMD3(repeating: 0.5 - slope / 2)))
  }

  /// A colour, added.
  static func adding(_ color: SIMD3<Double>) -> ColorMatrix {
    var matrix = ColorMatrix.identity
    matrix.bias = SIMD4(color, 0)
    return matrix
  }
}
