/// An affine map of colour with straight alpha, in units of 0 ... 1: a channel of the result is the
/// dot product of a row with (red, green, blue, alpha), plus the row's bias.
public struct ColorMatrix: Sendable, Hashable {
  /// The coefficients of the resulting red for red, green, blue and alpha.
  public var red: SIMD4<Double>
  /// The coefficients of the resulting green.
  public var green: SIMD4<Double>
  /// The coefficients of the resulting blue.
  public var blue: SIMD4<Double>
  /// The coefficients of the resulting alpha.
  public var alpha: SIMD4<Double>
  /// The bias of red, green, blue and alpha.
  public var bias: SIMD4<Double>

  /// The identity.
  public static let identity = ColorMatrix(
    red: [1, 0, 0, 0], green: [0, 1, 0, 0], blue: [0, 0, 1, 0])

  /// Creates a matrix from its rows and biases.
  public init(
    red: SIMD4<Double>, green: SIMD4<Double>, blue: SIMD4<Double>,
    alpha: SIMD4<Double> = [0, 0, 0, 1], bias: SIMD4<Double> = .zero
  ) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
    self.bias = bias
  }

  /// A map with the same weights of red, green and blue for all channels.
  public static func monochrome(_ weights: SIMD3<Double>) -> ColorMatrix {
    let row = SIMD4(weights, 0)
    return ColorMatrix(red: row, green: row, blue: row)
  }

  /// A map that multiplies channels by factors.
  public static func scaling(_ factors: SIMD3<Double>) -> ColorMatrix {
    ColorMatrix(
      red: [factors.x, 0, 0, 0], green: [0, factors.y, 0, 0], blue: [0, 0, factors.z, 0])
  }

  /// Whether the map leaves alpha unchanged.
  public var keepsAlpha: Bool { self.alpha == [0, 0, 0, 1] && self.bias.w == 0 }

  /// Whether colour depends on alpha.
  package var readsAlpha: Bool { self.red.w != 0 || self.green.w != 0 || self.blue.w != 0 }

  /// Applies the map to one colour.
  public func callAsFunction(_ pixel: SIMD4<Double>) -> SIMD4<Double> {
    SIMD4(
      (self.red * pixel).sum(), (self.green * pixel).sum(), (self.blue * pixel).sum(),
      (self.alpha * pixel).sum()) + self.bias
  }

  /// Returns the composition of this map and `next`. Exact: values in between are not clamped.
  public func followed(by next: ColorMatrix) -> ColorMatrix {
    func row(_ weights: SIMD4<Double>) -> SIMD4<Double> {
      self.red * weights.x + self.green * weights.y + self.blue * weights.z
        + self.alpha * weights.w
    }
    return ColorMatrix(
      red: row(next.red), green: row(next.green), blue: row(next.blue), alpha: row(next.alpha),
      bias: next(self.bias))
  }

  /// Interpolates between the identity (0) and this map (1).
  public func mixed(_ amount: Double) -> ColorMatrix {
    func lerp(_ from: SIMD4<Double>, _ to: SIMD4<Double>) -> SIMD4<Double> {
      from + (to - from) * amount
    }
    let identity = Self.identity
    return ColorMatrix(
      red: lerp(identity.red, self.red), green: lerp(identity.green, self.green),
      blue: lerp(identity.blue, self.blue), alpha: lerp(identity.alpha, self.alpha),
      bias: self.bias * amount)
  }
}

extension ColorMatrix {
  /// The weights of red, green and blue in luma (ITU-R BT.709).
  package static let luma = SIMD3(0.2126, 0.7152, 0.0722)

  /// Scales the distance of colour from its Rec. 709 luma: more than 1 saturates, less desaturates.
  package static func saturation(_ amount: Double) -> ColorMatrix {
    ColorMatrix.monochrome(Self.luma).mixed(1 - amount)
  }
}

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
