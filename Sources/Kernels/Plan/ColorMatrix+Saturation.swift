extension ColorMatrix {
  /// Moves colour away from its Rec. 709 luma (more than 1) or towards it (less).
  package static func saturation(_ amount: Double) -> ColorMatrix {
    ColorMatrix.monochrome(Grayscale.luma).mixed(1 - amount)
  }
}
