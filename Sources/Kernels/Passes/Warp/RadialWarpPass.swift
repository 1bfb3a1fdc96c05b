import CKernels

/// Pixels from other places, plane by plane, in tiles: a tile's sources lie close together, where a
/// row's may lie all over the frame.
package struct RadialWarpPass: Pass {
  /// The map on one plane.
  private struct PlaneMap: Sendable {
    let shape: PlaneShape
    let map: RadialMap
    let table: RadialWarpTable
    /// In pixels of the plane, counted from the centre of the first.
    let center: (x: Double, y: Double)
    /// In pixels of the plane.
    let hole: Double
    let reach: Double
    let nothing: [Double]
  }

  private static let tileWidth = 128
  private static let tileHeight = 32

  package let description: PassDescription
  private let planes: [PlaneMap]
  private let keepsFourthChannel: Bool

  init(_ setting: PassSetting, _ map: RadialMap) {
    self.description = setting.description
    self.keepsFourthChannel = setting.keepsFourthChannel
    let geometry = setting.geometry
    self.planes = PlaneShape.planes(geometry.format, geometry.size).map { shape in
      PlaneMap(
        shape: shape, map: map, table: RadialWarpTable(map, scale: shape.scale),
        center: (map.center.x * shape.scale - 0.5, map.center.y * shape.scale - 0.5),
        hole: map.hole * shape.scale, reach: map.reach * shape.scale,
        nothing: EmptyColor.samples(geometry)[shape.plane].map(Double.init))
    }
  }

  package func run(_ context: PassContext) async {
    for plane in self.planes {
      let writer = SegmentWriter(context, plane.shape, keepsAlpha: self.keepsFourthChannel)
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
      source, shape, nothing: plane.nothing, capacity: Self.tileWidth)
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
          let curve = Self.curve(distances, plane)
          for y in tileRows {
            writer.fetch(x: left, y: y, count: count)
            if var curve {
              unsafe rows.remap_radial_curve(
                &readerPlane, &map, &curve, plane.table.turns ? 1 : 0, covers ? 1 : 0, left, y,
                count, reader.places.pointers)
            } else {
              unsafe rows.remap_radial_table(
                &readerPlane, &map, left, y, count, reader.places.pointers)
            }
            unsafe writer.write(
              reader.read(count: count, covers: covers), x: left, y: y, count: count, rows)
          }
        }
      }
    }
  }

  /// The map over a tile's distances, if it is smooth enough there. Of what lies in a hole or
  /// beyond reach nothing need be known.
  private static func curve(
    _ distances: ClosedRange<Double>, _ plane: PlaneMap
  ) -> sl_radial_curve? {
    let scale = plane.shape.scale
    let upper = min(distances.upperBound, plane.reach)
    let lower = min(max(distances.lowerBound, plane.hole - 1), upper)
    return RadialWarpCurve.fit(plane.map, over: lower / scale ... upper / scale, scale: scale)
  }

  /// How far from the centre a tile's pixels are.
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
