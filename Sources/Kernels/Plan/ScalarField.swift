/// A number for every place of a frame, by which colour is multiplied.
public struct ScalarField: Sendable {
  /// The field's value at a place in pixels from the top left; pixel centres lie at halves.
  package let value: @Sendable (_ x: Double, _ y: Double) -> Double

  /// A field that changes slowly, so that it may be sampled on a grid and interpolated. The grid is
  /// refined until the interpolation is within a thousandth.
  ///
  /// - Parameter value: The field at a place in pixels from the top left corner. Must be pure.
  public static func smooth(
    _ value: @escaping @Sendable (_ x: Double, _ y: Double) -> Double
  ) -> ScalarField {
    ScalarField(value: value)
  }
}
