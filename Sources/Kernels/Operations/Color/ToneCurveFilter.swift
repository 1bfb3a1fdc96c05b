import CKernels

/// A curve of tones through five points, the same for every channel.
struct ToneCurveFilter: CatalogueFilter {
  static let description = FilterDescription(
    name: "toneCurve",
    summary: "Maps the tones of each channel by a smooth curve through five points.",
    category: .color, reach: .pixel, fidelity: .modelled, isCoreImage: true,
    keywords: "contrast brighter darker",
    examples: ["toneCurve(point1: [0.25, 0.15], point3: [0.75, 0.88])"],
    formula: """
      c' = f(clamp(c)) for each of r, g, b; f the monotone cubic (Fritsch and Carlson 1980) through \
      the points (tone, new tone) in the order of their tones, constant before the first and after \
      the last. Of several points with one tone the last counts. If all points have equal \
      coordinates, from (0, 0) to (1, 1), nothing changes
      """,
    parameters: (0 ..< Self.pointCount).map { index in
      let tone = Double(index) / Double(Self.pointCount - 1)
      return ParameterDescription(
        "point\(index)", .vector(count: 2), default: .vector([tone, tone]), slider: 0 ... 1,
        limits: 0 ... 1, "\(Self.roles[index]): a tone and the tone that it becomes.")
    })

  private static let pointCount = 5
  /// The tones at the default points.
  private static let roles = ["Black", "Dark tones", "Middle tones", "Bright tones", "White"]

  /// The points by ascending tone, one per tone.
  private let points: [SIMD2<Double>]

  init(_ arguments: Arguments) {
    var byTone: [Double: Double] = [:]
    for index in 0 ..< Self.pointCount {
      let point = arguments.vector("point\(index)")
      byTone[point[0]] = point[1]
    }
    self.points = byTone.sorted { $0.key < $1.key }.map { SIMD2($0.key, $0.value) }
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    guard !self.changesNothing else { return [] }
    // One tone left: the curve is constant.
    let curve = LookCurve(
      self.points.count > 1 ? self.points : [[0, self.points[0].y], [1, self.points[0].y]])
    let kernel = StripKernel(isCurve: true) { pixel, _, _, _ in
      [curve(pixel.x), curve(pixel.y), curve(pixel.z), pixel.w]
    } apply: { strip in
      let rows = unsafe sl_rows_current()
      unsafe strip.forEachColor { channel in
        unsafe rows.pointee.lookup_curve(
          channel, strip.count, curve.knots.start, LookCurve.intervals)
      }
    }
    return [FilterNode(.kernel(kernel))]
  }

  private var changesNothing: Bool {
    self.points.allSatisfy { $0.x == $0.y } && self.points.first?.x == 0
      && self.points.last?.x == 1
  }
}

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
