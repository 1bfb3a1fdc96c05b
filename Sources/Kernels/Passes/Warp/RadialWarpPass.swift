import CKernels

/// Pixels from other places, plane by plane, in tiles: a tile's sources lie close together, where a
/// row's may lie all over the frame.
package struct RadialWarpPass: Pass {
  /// The map on one plane.
  private struct PlaneMap: Sendable {
    let shape: PlaneShape
    let table: RadialWarpTable
    let center: (x: Double, y: Double)
    let hole: Double
    let reach: Double
    let nothing: [Int16]
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
        shape: shape, table: RadialWarpTable(map, scale: shape.scale),
        center: (map.center.x * shape.scale - 0.5, map.center.y * shape.scale - 0.5),
        hole: map.hole * shape.scale, reach: map.reach * shape.scale,
        nothing: EmptyColor.samples(geometry)[shape.plane])
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
    let area = unsafe sl_area_rows_current().pointee
    let shape = plane.shape
    let read = unsafe source.depth == .eight ? area.warp_read_u8 : area.warp_read_i16
    let start = unsafe source.row(0, plane: shape.plane)
    let stride = unsafe source.row(1, plane: shape.plane) - start
    let places = RadialWarpPlaces(count: Self.tileWidth)
    let memory = SampleMemory(count: Self.tileWidth * shape.step + 64)
    let result = unsafe memory[0]
    // A sum is 1/64 level from bytes, 1/32 from deep samples.
    let nothing = plane.nothing.map { $0 * (source.depth == .eight ? 64 : 32) }
    unsafe plane.table.values.withUnsafeBufferPointer { table in
      var map = unsafe sl_warp_map(
        table: table.baseAddress.unsafelyUnwrapped, entries: Int32(plane.table.entries),
        density: Float(plane.table.density), center_x: Float(plane.center.x),
        center_y: Float(plane.center.y), hole: Float(plane.hole), max_x: Float(shape.width - 1),
        max_y: Float(shape.height - 1),
        pixel_bytes: UInt32(shape.step * source.depth.byteCount),
        row_bytes: UInt32(stride))
      unsafe nothing.withUnsafeBufferPointer { nothing in
        let nothing = plane.hole > 0 ? nothing.baseAddress : nil
        for top in Swift.stride(from: band.lowerBound, to: band.upperBound, by: Self.tileHeight) {
          let tileRows = top ..< min(top + Self.tileHeight, band.upperBound)
          for left in Swift.stride(from: 0, to: shape.width, by: Self.tileWidth) {
            let count = min(Self.tileWidth, shape.width - left)
            guard Self.isTouched(left ..< left + count, tileRows, plane) else {
              for y in tileRows { unsafe writer.copy(x: left, y: y, count: count, rows) }
              continue
            }
            for y in tileRows {
              unsafe area.warp_places(&map, left, y, count, places.pointers)
              unsafe read(
                start, stride, shape.step,
                shape.width == 1 ? 1 : 0, shape.height == 1 ? 1 : 0, places.pointers, nothing,
                count, result)
              unsafe writer.write(result, x: left, y: y, count: count, rows)
            }
          }
        }
      }
    }
  }

  /// Whether a tile has pixels that move.
  private static func isTouched(_ x: Range<Int>, _ y: Range<Int>, _ plane: PlaneMap) -> Bool {
    func gap(_ center: Double, _ range: Range<Int>) -> Double {
      center - min(max(center, Double(range.lowerBound)), Double(range.upperBound - 1))
    }
    let (dx, dy) = (gap(plane.center.x, x), gap(plane.center.y, y))
    return dx * dx + dy * dy < plane.reach * plane.reach
  }
}
