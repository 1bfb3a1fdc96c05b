/// A smooth curve of one channel over 0 ... 1, constant beyond: a monotone cubic through points
/// (Fritsch and Carlson 1980), which does not overshoot between them.
struct LookCurve: Sendable {
  private let points: [SIMD2<Double>]
  private let slopes: [Double]
  /// The curve at ``intervals`` + 1 evenly spaced positions, between which the C rows interpolate.
  let knots: FloatTable

  /// The number of intervals of ``knots``.
  static let intervals = 256

  /// Creates a curve.
  ///
  /// - Parameter points: At least two pairs of position and value, by ascending position.
  init(_ points: SIMD2<Double>...) {
    self.init(points)
  }

  /// Creates a curve.
  ///
  /// - Parameter points: At least two pairs of position and value, by ascending position.
  init(_ points: [SIMD2<Double>]) {
    let secants = zip(points, points.dropFirst()).map { ($1.y - $0.y) / ($1.x - $0.x) }
    var slopes = [secants[0]]
    for (left, right) in zip(secants, secants.dropFirst()) {
      // The harmonic mean; 0 at local extrema.
      slopes.append(left * right > 0 ? 2 * left * right / (left + right) : 0)
    }
    slopes.append(secants[secants.count - 1])
    self.points = points
    self.slopes = slopes
    self.knots = FloatTable(
      (0 ... Self.intervals).map { index in
        Float(Self.value(Double(index) / Double(Self.intervals), points, slopes))
      })
  }

  /// The curve's value at a position.
  func callAsFunction(_ position: Double) -> Double {
    Self.value(position, self.points, self.slopes)
  }

  private static func value(
    _ position: Double, _ points: [SIMD2<Double>], _ slopes: [Double]
  ) -> Double {
    let position = min(max(position, points[0].x), points[points.count - 1].x)
    let index = (points.firstIndex { $0.x > position } ?? points.count - 1) - 1
    let (low, high) = (points[index], points[index + 1])
    let width = high.x - low.x
    let t = (position - low.x) / width
    let (square, cube) = (t * t, t * t * t)
    return low.y * (2 * cube - 3 * square + 1) + high.y * (3 * square - 2 * cube)
      + width * (slopes[index] * (cube - 2 * square + t) + slopes[index + 1] * (cube - square))
  }
}
