import CKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A radial map on one plane, sampled by distance.
struct RadialWarpTable: Sendable {
  /// Pairs of numbers by distance; ``entries`` + 2 pairs.
  let values: [Float]
  /// The number of steps.
  let entries: Int
  /// Steps per pixel of the plane.
  let density: Double
  /// Whether the map rotates at any distance.
  let rotates: Bool

  /// Samples a map.
  ///
  /// - Parameters:
  ///   - map: The map in pixels of the frame.
  ///   - scale: The plane's pixels per pixel of the frame.
  init(_ map: RadialMap, scale: Double) {
    // Fine enough for an error of a few hundredths of a pixel where the curvature of maps is
    // greatest: at the rim of a hole, and where a twirl is tight.
    let length = map.reach * scale
    // Linear interpolation between entries that are h apart has an error of at most h^2 / 8 times
    // the curvature; .002 pixels are allowed.
    let curved = (Self.curvature(map) / (8 * 0.002)).squareRoot() / scale
    let density = max(4, map.hole > 0 ? 64 / map.hole : 64 / map.reach, curved)
    self.entries = Int(min(max(length * density, 64), 16384))
    self.density = Double(self.entries) / length
    var values: [Float] = []
    values.reserveCapacity(2 * self.entries + 4)
    for entry in 0 ... self.entries + 1 {
      let distance = Double(min(entry, self.entries)) / self.density / scale
      let factor = map.factor(distance)
      values.append(Float(factor.re))
      values.append(Float(factor.im))
    }
    self.rotates = stride(from: 1, to: values.count, by: 2).contains { values[$0] != 0 }
    self.values = values
  }

  /// The maximum curvature of positions over the distance, in pixels per pixel squared: the
  /// factor's second derivative times the distance.
  private static func curvature(_ map: RadialMap) -> Double {
    let step = map.reach / 32
    guard map.hole == 0, step > 0 else { return 0 }
    return (1 ..< 31).reduce(0.0) { worst, index in
      let distance = Double(index) * step
      // The step is small, because a factor may oscillate within a larger one.
      let near = step / 16
      let (a, b, c) = (
        map.factor(distance - near), map.factor(distance), map.factor(distance + near)
      )
      let (re, im) = (a.re - 2 * b.re + c.re, a.im - 2 * b.im + c.im)
      return max(worst, (re * re + im * im).squareRoot() / (near * near) * distance)
    }
  }
}

/// A radial map over a short range of distances, such as a tile's range, as polynomials. Vectors of
/// positions are computed faster from them than by using table lookups.
enum RadialWarpCurve {
  /// The positions, -1 ... 1, for a number of terms.
  private struct Samples: Sendable {
    /// The sampled positions: the roots of a Chebyshev polynomial, which give a nearly minimal
    /// error.
    let nodes: [Double]
    /// The positions of the maximum errors, between the nodes and at the ends.
    let extremes: [Double]

    init(terms: Int) {
      self.nodes = (0 ..< terms).map { cos(Double.pi * (Double($0) + 0.5) / Double(terms)) }
      self.extremes = (0 ... terms).map { cos(Double.pi * Double($0) / Double(terms)) }
    }
  }

  private static let samples = [
    Samples(terms: Int(SL_FEW_RADIAL_TERMS)), Samples(terms: Int(SL_RADIAL_TERMS)),
  ]

  /// The maximum error of a position, in pixels of the frame.
  private static let tolerance = 1.0 / 1024

  /// Fits the polynomials, with as few terms as suffice.
  ///
  /// - Parameters:
  ///   - map: The map in pixels of the frame.
  ///   - range: The distances, in pixels of the frame.
  ///   - scale: The plane's pixels per pixel of the frame.
  /// - Returns: `nil` if the error exceeds the tolerance.
  static func fit(
    _ map: RadialMap, over range: ClosedRange<Double>, scale: Double
  ) -> sl_radial_curve? {
    for samples in Self.samples {
      if let curve = Self.fit(map, over: range, scale: scale, samples) { return curve }
    }
    return nil
  }

  private static func fit(
    _ map: RadialMap, over range: ClosedRange<Double>, scale: Double, _ samples: Samples
  ) -> sl_radial_curve? {
    let nodes = samples.nodes
    let middle = (range.lowerBound + range.upperBound) / 2
    let half = max((range.upperBound - range.lowerBound) / 2, 1e-3)
    let factors = nodes.map { map.factor(middle + $0 * half) }
    let re = Self.coefficients(factors.map(\.re), at: nodes)
    let im = Self.coefficients(factors.map(\.im), at: nodes)
    for t in samples.extremes {
      let distance = middle + t * half
      let factor = map.factor(distance)
      let error = hypot(
        Self.value(re, at: t) - factor.re, Self.value(im, at: t) - factor.im)
      guard error * distance <= Self.tolerance else { return nil }
    }
    var curve = sl_radial_curve()
    curve.terms = Int32(nodes.count)
    curve.middle = Float(middle * scale)
    curve.scale = Float(1 / (half * scale))
    unsafe withUnsafeMutableBytes(of: &curve.re) { bytes in
      for (index, value) in re.enumerated() {
        unsafe bytes.storeBytes(of: Float(value), toByteOffset: index * 4, as: Float.self)
      }
    }
    unsafe withUnsafeMutableBytes(of: &curve.im) { bytes in
      for (index, value) in im.enumerated() {
        unsafe bytes.storeBytes(of: Float(value), toByteOffset: index * 4, as: Float.self)
      }
    }
    return curve
  }

  /// The polynomial through values at the nodes, constant term first: Newton's divided differences,
  /// multiplied out.
  private static func coefficients(_ values: [Double], at nodes: [Double]) -> [Double] {
    var differences = values
    for order in 1 ..< values.count {
      for index in stride(from: values.count - 1, through: order, by: -1) {
        differences[index] =
          (differences[index] - differences[index - 1])
          / (nodes[index] - nodes[index - order])
      }
    }
    var result = Array(repeating: 0.0, count: values.count)
    for index in values.indices.reversed() {
      // result = result * (t - node) + difference
      for power in stride(from: values.count - 1, through: 1, by: -1) {
        result[power] = result[power - 1] - nodes[index] * result[power]
      }
      result[0] = differences[index] - nodes[index] * result[0]
    }
    return result
  }

  private static func value(_ coefficients: [Double], at t: Double) -> Double {
    coefficients.reversed().reduce(0) { $0 * t + $1 }
  }
}
