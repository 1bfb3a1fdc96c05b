extension ColorMatrix {
  /// Multiplies red, green and blue by a number each.
  public static func diagonal(_ gains: SIMD3<Double>) -> ColorMatrix {
    ColorMatrix(red: [gains.x, 0, 0, 0], green: [0, gains.y, 0, 0], blue: [0, 0, gains.z, 0])
  }

  /// Moves colour away from its Rec. 709 luma (more than 1) or towards it (less).
  package static func saturation(_ amount: Double) -> ColorMatrix {
    ColorMatrix.monochrome(Grayscale.luma).mixed(1 - amount)
  }
}
