import CKernels

/// Moves each plane by an affine map, bilinear, in tiles: a tile's sources lie close together, where
/// a row's may lie all over the frame.
package struct AffinePass: Pass {
  package let description: PassDescription
  private let operation: AffineOperation
  /// The border of the moved picture, by plane and channel.
  private let empty: [[Double]]
  private let keepsFourthChannel: Bool

  private static let tileWidth = 128
  private static let tileHeight = 32

  init(
    description: PassDescription, operation: AffineOperation, empty: [[Double]],
    keepsFourthChannel: Bool
  ) {
    self.description = description
    self.operation = operation
    self.empty = empty
    self.keepsFourthChannel = keepsFourthChannel
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let square = Double(self.operation.samples * self.operation.samples)
    for shape in PlaneShape.planes(source.format, source.size) {
      let writer = SegmentWriter(context, shape, keepsAlpha: self.keepsFourthChannel)
      let cost = Double(shape.samples * shape.height) * 0.4 * square
      await context.bands.run(
        rows: shape.height, alignment: Self.tileHeight, nanoseconds: cost
      ) { band in
        self.run(band, source, shape, writer)
      }
    }
  }

  private func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ writer: SegmentWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let clamps = self.operation.clamps
    let reader = WarpReader(
      source, shape, nothing: self.empty[shape.plane], capacity: Self.tileWidth)
    let sums = SampleSums(count: Self.tileWidth * shape.step)
    // Nothing to be seen is all border: a line that stands still outside, or at the first pixel.
    let map =
      self.operation.inverse
      ?? AffineMap(a: 0, b: 0, c: 0, d: 0, tx: clamps ? 0 : -1e6, ty: 0)
    let count = self.operation.samples
    for top in stride(from: band.lowerBound, to: band.upperBound, by: Self.tileHeight) {
      for left in stride(from: 0, to: shape.width, by: Self.tileWidth) {
        let length = min(Self.tileWidth, shape.width - left)
        for y in top ..< min(top + Self.tileHeight, band.upperBound) {
          writer.fetch(x: left, y: y, count: length)
          func read(_ sample: Int) -> UnsafeMutablePointer<Int16> {
            let column = (Double(sample % count) + 0.5) / Double(count)
            let row = (Double(sample / count) + 0.5) / Double(count)
            Self.setPlaces(reader, map, Double(left) + column, Double(y) + row, length, shape)
            return unsafe reader.read(count: length, covers: !clamps)
          }
          guard count > 1 else {
            unsafe writer.write(read(0), x: left, y: y, count: length, rows)
            continue
          }
          for sample in 0 ..< count * count {
            unsafe sums.add(read(sample), count: length * shape.step, isFirst: sample == 0, rows)
          }
          unsafe writer.write(
            sums.means(of: count * count, count: length * shape.step), x: left, y: y,
            count: length, rows)
        }
      }
    }
  }

  /// Sets the places of a run of pixels that begins at a place of a plane, in samples of the plane.
  private static func setPlaces(
    _ reader: borrowing WarpReader, _ map: AffineMap, _ x: Double, _ y: Double, _ length: Int,
    _ shape: PlaneShape
  ) {
    let place = map(x / shape.scale, y / shape.scale)
    var plane = reader.plane
    let start = [Float(place.x * shape.scale - 0.5), Float(place.y * shape.scale - 0.5)]
    let slope = [Float(map.a), Float(map.b)]
    unsafe sl_rows_current().pointee.remap_line(
      &plane, start, slope, length, reader.places.pointers)
  }
}
