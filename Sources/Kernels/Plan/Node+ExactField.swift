extension Node {
  /// Multiplies red, green and blue by a number that is computed for every pixel: for what changes
  /// too quickly for ``field(_:)``.
  ///
  /// - Parameter value: The number at a place in pixels from the top left corner; pixel centres lie
  ///   at halves. Must be pure.
  package static func exactField(
    _ value: @escaping @Sendable (_ x: Double, _ y: Double) -> Double
  ) -> Node {
    let kernel = StripKernel { pixel, x, y, _ in
      let factor = value(Double(x) + 0.5, Double(y) + 0.5)
      return [pixel.x * factor, pixel.y * factor, pixel.z * factor, pixel.w]
    } apply: { strip in
      let y = Double(strip.y) + 0.5
      for index in 0 ..< strip.count {
        let factor = Float(value(Double(strip.x + index) + 0.5, y))
        unsafe strip.red[index] *= factor
        unsafe strip.green[index] *= factor
        unsafe strip.blue[index] *= factor
      }
    }
    return Node(.kernel(kernel))
  }
}
