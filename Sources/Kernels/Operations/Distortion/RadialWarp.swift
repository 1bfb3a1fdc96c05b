import CKernels

/// A radial map of positions: a pixel's source is rotated and scaled about a centre by a factor of
/// the distance.
package struct RadialMap: Sendable {
  /// The factor of a vector from the centre: re + i im, with the vector x + i y (y down) as a
  /// complex number.
  package struct Factor: Sendable, Hashable {
    package let re: Double
    package let im: Double
  }

  /// The centre in pixels from the top left.
  package let center: (x: Double, y: Double)
  /// The radius of an empty hole around the centre; 0 disables it.
  package let hole: Double
  /// The distance beyond which pixels do not change.
  package let reach: Double
  /// The factor at a distance of less than ``reach``, in pixels. Must be smooth and finite.
  package let factor: @Sendable (_ distance: Double) -> Factor

  /// The maximum distance from the centre to a point of the frame.
  package static func greatestDistance(
    from center: (x: Double, y: Double), in size: FrameSize
  ) -> Double {
    let x = max(abs(center.x), abs(Double(size.width) - center.x))
    let y = max(abs(center.y), abs(Double(size.height) - center.y))
    return (x * x + y * y).squareRoot()
  }
}

/// A filter that distorts the pixels within a radius of a point.
protocol DiscDistortion: ArgumentFilter {
  /// The distortion in summaries of passes: `bump`.
  static var noun: String { get }
  /// The name of the parameter for the strength; 0 disables the distortion.
  static var amountName: String { get }

  /// Returns the factor of vectors from the centre.
  ///
  /// - Parameter distance: The distance from the centre in radii, 0 ..< 1.
  static func factor(at distance: Double, amount: Double) -> RadialMap.Factor
}

extension DiscDistortion {
  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let radius = self.arguments.length("radius").pixels(in: geometry.size)
    let amount = self.arguments.number(Self.amountName)
    guard radius >= 0.5, amount != 0 else { return [] }
    let map = RadialMap(
      center: self.arguments.point("center").pixels(in: geometry.size), hole: 0, reach: radius
    ) { distance in
      Self.factor(at: distance / radius, amount: amount)
    }
    let summary = "a \(Self.noun) of radius \(radius), in tiles"
    return [FilterNode(.neighborhood(RadialWarpOperation(map: map, summary: summary)))]
  }
}

/// A resampling that uses a radial map, bilinear, with clamped edges.
package struct RadialWarpOperation: NeighborhoodOperation {
  package let map: RadialMap

  package let summary: String

  package var kind: PassDescription.Kind { .warp }

  package func makePass(_ setting: PassSetting) -> any Pass {
    RadialWarpPass(setting, self.map)
  }
}

/// Resampling of every plane by a radial map, in tiles: a tile's sources are close together, a
/// row's sources may be spread over the frame.
package struct RadialWarpPass: OperationPass {
  /// The map on one plane.
  private struct PlaneMap: Sendable {
    let shape: PlaneShape
    let map: RadialMap
    let table: RadialWarpTable
    /// In pixels of the plane, relative to the centre of the first pixel.
    let center: (x: Double, y: Double)
    /// In pixels of the plane.
    let hole: Double
    let reach: Double
    let empty: [Double]
  }

  private static let tileWidth = 128
  private static let tileHeight = 32

  package let setting: PassSetting
  private let planes: [PlaneMap]

  init(_ setting: PassSetting, _ map: RadialMap) {
    self.setting = setting
    let geometry = setting.geometry
    self.planes = PlaneShape.planes(geometry.format, geometry.size).map { shape in
      PlaneMap(
        shape: shape, map: map, table: RadialWarpTable(map, scale: shape.scale),
        center: (map.center.x * shape.scale - 0.5, map.center.y * shape.scale - 0.5),
        hole: map.hole * shape.scale, reach: map.reach * shape.scale,
        empty: TransparentBlack.samples(geometry)[shape.plane].map(Double.init))
    }
  }

  package func run(_ context: PassContext) async {
    for plane in self.planes {
      let writer = SegmentWriter(context, plane.shape, keepsAlpha: self.setting.keepsFourthChannel)
      let source = context.inputs[0].view
      let cost = Double(plane.shape.samples * plane.shape.height) * 0.5
      await context.bands.run(
        rows: plane.shape.height, alignment: Self.tileHeight, nanoseconds: cost
      ) { band in
        Self.run(band, source, plane, writer)
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ plane: PlaneMap, _ writer: SegmentWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let shape = plane.shape
    let reader = WarpReader(
      source, shape, empty: plane.empty, capacity: Self.tileWidth)
    var readerPlane = reader.plane
    unsafe plane.table.values.withUnsafeBufferPointer { table in
      var map = unsafe sl_radial_map(
        table: table.baseAddress.unsafelyUnwrapped, entries: Int32(plane.table.entries),
        density: Float(plane.table.density), center_x: Float(plane.center.x),
        center_y: Float(plane.center.y), reach: Float(plane.reach), hole: Float(plane.hole))
      for top in Swift.stride(from: band.lowerBound, to: band.upperBound, by: Self.tileHeight) {
        let tileRows = top ..< min(top + Self.tileHeight, band.upperBound)
        for left in Swift.stride(from: 0, to: shape.width, by: Self.tileWidth) {
          let count = min(Self.tileWidth, shape.width - left)
          let distances = Self.distances(left ..< left + count, tileRows, plane)
          guard distances.lowerBound < plane.reach else {
            for y in tileRows { unsafe writer.copy(x: left, y: y, count: count, rows) }
            continue
          }
          let covers = plane.hole > 0 && distances.lowerBound < plane.hole + 0.5
          let isPartial = covers || distances.upperBound >= plane.reach
          let curve = Self.curve(distances, plane)
          for y in tileRows {
            writer.fetch(x: left, y: y, count: count)
            if var curve {
              unsafe rows.remap_radial_curve(
                &readerPlane, &map, &curve, plane.table.rotates ? 1 : 0, isPartial ? 1 : 0, left,
                y, count, reader.positions.pointers)
            } else {
              unsafe rows.remap_radial_table(
                &readerPlane, &map, left, y, count, reader.positions.pointers)
            }
            unsafe writer.write(
              reader.read(count: count, covers: covers), x: left, y: y, count: count, rows)
          }
        }
      }
    }
  }

  /// The map over a tile's distances as a polynomial; `nil` if it is not smooth enough. Distances
  /// in the hole and beyond reach do not matter.
  private static func curve(
    _ distances: ClosedRange<Double>, _ plane: PlaneMap
  ) -> sl_radial_curve? {
    let scale = plane.shape.scale
    let upper = min(distances.upperBound, plane.reach)
    let lower = min(max(distances.lowerBound, plane.hole - 1), upper)
    return RadialWarpCurve.fit(plane.map, over: lower / scale ... upper / scale, scale: scale)
  }

  /// The range of distances from the centre to a tile's pixels.
  private static func distances(
    _ x: Range<Int>, _ y: Range<Int>, _ plane: PlaneMap
  ) -> ClosedRange<Double> {
    func range(_ center: Double, _ range: Range<Int>) -> (least: Double, most: Double) {
      let (low, high) = (Double(range.lowerBound) - center, Double(range.upperBound - 1) - center)
      return (max(0, low, -high), max(abs(low), abs(high)))
    }
    let (dx, dy) = (range(plane.center.x, x), range(plane.center.y, y))
    return (dx.least * dx.least + dy.least * dy.least).squareRoot()
      ... (dx.most * dx.most + dy.most * dy.most).squareRoot()
  }
}

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
