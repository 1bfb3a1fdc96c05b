/// A number for every place of a frame, by which colour is multiplied.
public struct ScalarField: Sendable {
  package enum Kind: Sendable {
    /// Changes slowly; a function of the place in pixels.
    case smooth(@Sendable (_ x: Double, _ y: Double) -> Double)
    /// New noise for every pixel and frame.
    case grain(GrainField)
  }

  package let kind: Kind

  /// A field that changes slowly, so that it may be sampled on a grid and interpolated. The grid is
  /// refined until the interpolation is within a thousandth.
  ///
  /// - Parameter value: The field at a place in pixels from the top left corner; pixel centres lie
  ///   at halves. Must be pure.
  public static func smooth(
    _ value: @escaping @Sendable (_ x: Double, _ y: Double) -> Double
  ) -> ScalarField {
    ScalarField(kind: .smooth(value))
  }

  /// Noise between 1 - amount and 1, a new one for every pixel and frame; the same for the same seed
  /// and frame number on every machine.
  ///
  /// - Parameter amount: 0 ... 1.
  public static func grain(amount: Double, seed: UInt64) -> ScalarField {
    ScalarField(kind: .grain(GrainField(amount: amount, seed: seed)))
  }

  /// The field at the centre of a pixel.
  package func value(x: Int, y: Int, moment: FrameMoment) -> Double {
    switch self.kind {
    case .smooth(let value): value(Double(x) + 0.5, Double(y) + 0.5)
    case .grain(let grain): grain.value(x: x, y: y, moment: moment)
    }
  }
}
