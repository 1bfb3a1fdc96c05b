import CKernels

/// Moves each plane by an affine map, bilinear.
package struct AffinePass: Pass {
  package let description: PassDescription
  private let operation: AffineOperation
  private let keepsFourthChannel: Bool

  /// Walks are begun anew after so many pixels, so that single precision is enough.
  private static let walkLength = 256

  init(description: PassDescription, operation: AffineOperation, keepsFourthChannel: Bool) {
    self.description = description
    self.operation = operation
    self.keepsFourthChannel = keepsFourthChannel
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let square = Double(self.operation.samples * self.operation.samples)
    for shape in PlaneShape.planes(source.format, source.size) {
      let finish = RowFinish(
        context, shape, fractionBits: 5, keepsAlpha: self.keepsFourthChannel)
      let cost = Double(shape.samples * shape.height) * 2.5 * square
      await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
        self.run(band, source, shape, finish)
      }
    }
  }

  private func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ finish: RowFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let place = unsafe source.depth == .eight ? rows.place_u8 : rows.place_i16
    var plane = unsafe sl_plane(
      base: source.row(0, plane: shape.plane), stride: source.stride(plane: shape.plane),
      width: shape.width, height: shape.height)
    let sums = FloatMemory(count: shape.samples)
    let result = SampleMemory(count: shape.samples)
    // In 1/32 levels; premultiplied, so the same for alpha.
    let border = self.operation.border(scale: shape.scale).map {
      Array(repeating: Float($0) * 32, count: 4)
    }
    // Nothing to be seen is all border: a walk that stands still outside, or at the first pixel.
    let map =
      self.operation.inverse
      ?? AffineMap(a: 0, b: 0, c: 0, d: 0, tx: border == nil ? 0 : -1e6, ty: 0)
    let count = self.operation.samples
    for y in band {
      unsafe sums[0].update(repeating: 0, count: shape.samples)
      for x in stride(from: 0, to: shape.width, by: Self.walkLength) {
        let length = min(Self.walkLength, shape.width - x)
        for sample in 0 ..< count * count {
          let column = (Double(sample % count) + 0.5) / Double(count)
          let row = (Double(sample / count) + 0.5) / Double(count)
          var walk = Self.walk(map, Double(x) + column, Double(y) + row, shape.scale)
          unsafe Self.withPointer(border) { border in
            unsafe place(
              &plane, shape.step, &walk, length, border, 1 / Float(count * count),
              sums[x * shape.step])
          }
        }
      }
      unsafe rows.round_deep(sums[0], shape.samples, result[0])
      unsafe finish.write(result[0], y: y, rows)
    }
  }

  private static func withPointer(
    _ border: [Float]?, _ body: (UnsafePointer<Float>?) -> Void
  ) {
    guard let border else { return body(nil) }
    unsafe border.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
  }

  /// The walk of a row from a place of a plane, in samples of the plane.
  private static func walk(
    _ map: AffineMap, _ x: Double, _ y: Double, _ scale: Double
  ) -> sl_walk {
    let start = map(x / scale, y / scale)
    let (u, v) = (start.x * scale - 0.5, start.y * scale - 0.5)
    let (column, row) = (u.rounded(.down), v.rounded(.down))
    return sl_walk(
      column: Int(column), row: Int(row), x: Float(u - column), y: Float(v - row),
      dx: Float(map.a), dy: Float(map.b))
  }
}
