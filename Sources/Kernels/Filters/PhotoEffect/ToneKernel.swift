/// A cubic tone curve for each channel.
struct ToneKernel: ColorKernel {
  /// c0 + c1 x + c2 x^2 + c3 x^3, x within 0 ... 1.
  struct Curve: Sendable, Hashable {
    let c0: Float
    let c1: Float
    let c2: Float
    let c3: Float

    init(_ c0: Float, _ c1: Float, _ c2: Float, _ c3: Float) {
      self.c0 = c0
      self.c1 = c1
      self.c2 = c2
      self.c3 = c3
    }

    /// S-shaped: smoothstep.
    static let steep = Curve(0, 0, 3, -2)
    /// Between straight and smoothstep.
    static let mild = Curve(0, 0.6, 1.2, -0.8)

    func callAsFunction(_ value: Float) -> Float {
      let x = min(max(value, 0), 1)
      return self.c0 + x * (self.c1 + x * (self.c2 + x * self.c3))
    }
  }

  let red: Curve
  let green: Curve
  let blue: Curve

  func callAsFunction(_ pixel: Pixel, at place: Place) -> Pixel {
    Pixel(
      red: self.red(pixel.red), green: self.green(pixel.green), blue: self.blue(pixel.blue),
      alpha: pixel.alpha)
  }
}
