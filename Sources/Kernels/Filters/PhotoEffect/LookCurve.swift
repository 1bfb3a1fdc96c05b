/// A smooth curve of one channel over 0 ... 1, constant beyond: a monotone cubic through points
/// (Fritsch and Carlson 1980), so that it never overshoots between them.
struct LookCurve: Sendable {
  private let points: [SIMD2<Double>]
  private let slopes: [Double]
  /// The curve at ``intervals`` + 1 even places: what the rows in C interpolate between.
  let knots: FloatTable

  /// How finely ``knots`` are sampled.
  static let intervals = 256

  /// - Parameter points: At least two places and values, by rising place.
  init(_ points: SIMD2<Double>...) {
    let secants = zip(points, points.dropFirst()).map { ($1.y - $0.y) / ($1.x - $0.x) }
    var slopes = [secants[0]]
    for (left, right) in zip(secants, secants.dropFirst()) {
      // The harmonic mean; flat where the curve turns.
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

  /// The curve's value at a place.
  func callAsFunction(_ place: Double) -> Double {
    Self.value(place, self.points, self.slopes)
  }

  private static func value(
    _ place: Double, _ points: [SIMD2<Double>], _ slopes: [Double]
  ) -> Double {
    let place = min(max(place, points[0].x), points[points.count - 1].x)
    let index = (points.firstIndex { $0.x > place } ?? points.count - 1) - 1
    let (low, high) = (points[index], points[index + 1])
    let width = high.x - low.x
    let t = (place - low.x) / width
    let (square, cube) = (t * t, t * t * t)
    return low.y * (2 * cube - 3 * square + 1) + high.y * (3 * square - 2 * cube)
      + width * (slopes[index] * (cube - 2 * square + t) + slopes[index + 1] * (cube - square))
  }
}
