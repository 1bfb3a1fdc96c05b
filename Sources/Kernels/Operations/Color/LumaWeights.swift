/// The weights of a pixel's first three channels in its Rec. 709 luma.
package struct LumaWeights {
  /// The weights in the order of the channels in memory.
  package let exact: [Double]

  /// Creates the weights of a format.
  ///
  /// - Parameter format: A format with colour channels.
  package init(_ format: PixelFormat) {
    let luma = ColorMatrix.luma
    self.exact = format == .bgra8 ? [luma.z, luma.y, luma.x] : [luma.x, luma.y, luma.z]
  }

  /// The weights in units of 1/32768. Their sum is 32768.
  package var fixed: [Int16] {
    var values = self.exact.map { Int16(($0 * 32768).rounded()) }
    // The largest weight takes the rounding error.
    values[1] += Int16(32768 - values.reduce(0) { $0 + Int($1) })
    return values
  }
}
