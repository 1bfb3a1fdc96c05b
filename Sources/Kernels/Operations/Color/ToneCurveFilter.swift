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

  /// The number of points.
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
