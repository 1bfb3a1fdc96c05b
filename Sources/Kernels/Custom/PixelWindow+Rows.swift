extension PixelWindow {
  /// Calls `body` with the window's rows, from the top, for rows in C: at a row's start plus the
  /// offset lies the run's first pixel of a colour plane (0 red, 1 green, 2 blue, 3 alpha).
  func withRows<Result>(
    of strip: ColorStrip, plane: Int = 0,
    _ body: (
      _ rows: UnsafePointer<UnsafePointer<Float>>, _ planeStride: Int, _ offset: Int
    ) -> Result
  ) -> Result {
    unsafe body(self.rows, self.planeStride, plane * self.planeStride + strip.x)
  }

  /// Passes on the alpha of the pixels in the middle.
  ///
  /// - Parameter limitsColor: Whether colour is to be kept within -alpha ... 2 alpha: beyond that,
  ///   colour that nobody can see would come back as soon as alpha does.
  func copyAlpha(to strip: ColorStrip, limitsColor: Bool) {
    let middle = unsafe self.rows[self.reach] + (3 * self.planeStride + strip.x)
    unsafe strip.alpha.update(from: middle, count: strip.count)
    guard limitsColor else { return }
    func limit(_ channel: UnsafeMutablePointer<Float>) {
      for index in 0 ..< strip.count {
        let alpha = unsafe middle[index]
        unsafe channel[index] = min(max(channel[index], -alpha), 2 * alpha)
      }
    }
    unsafe limit(strip.red)
    unsafe limit(strip.green)
    unsafe limit(strip.blue)
  }
}

extension Pixel {
  /// The pixel with its colour kept within -alpha ... 2 alpha.
  var limitedByAlpha: Pixel {
    func limit(_ value: Float) -> Float { min(max(value, -self.alpha), 2 * self.alpha) }
    return Pixel(
      red: limit(self.red), green: limit(self.green), blue: limit(self.blue), alpha: self.alpha)
  }
}
