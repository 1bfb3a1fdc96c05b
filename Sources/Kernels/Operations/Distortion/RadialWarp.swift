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
protocol DiscDistortion: CatalogueFilter {
  /// The distortion in summaries of passes: `bump`.
  static var noun: String { get }

  var settings: DiscSettings { get }

  /// Returns the factor of vectors from the centre.
  ///
  /// - Parameter distance: The distance from the centre in radii, 0 ..< 1.
  func factor(at distance: Double) -> RadialMap.Factor
}

/// The parameters of a filter that distorts the pixels within a radius of a point.
struct DiscSettings: Sendable {
  let center: FramePoint
  let radius: Length
  /// The strength of the distortion; 0 disables it.
  let amount: Double

  /// Reads the parameters.
  ///
  /// - Parameter amount: The name of the parameter for the strength.
  init(_ arguments: Arguments, amount: String) {
    self.center = arguments.point("center")
    self.radius = arguments.length("radius")
    self.amount = arguments.number(amount)
  }
}

extension DiscDistortion {
  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let radius = self.settings.radius.pixels(in: geometry.size)
    guard radius >= 0.5, self.settings.amount != 0 else { return [] }
    let map = RadialMap(
      center: self.settings.center.pixels(in: geometry.size), hole: 0, reach: radius
    ) { distance in
      self.factor(at: distance / radius)
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
