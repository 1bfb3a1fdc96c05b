import CKernels

/// Turns and mirrors each plane, in tiles: where rows become columns, whole rows would lie all over
/// the frame.
package struct OrientPass: Pass {
  package let description: PassDescription
  private let operation: OrientOperation
  private let keepsFourthChannel: Bool

  /// The pixels of a tile; where rows stay rows, they are long.
  private var tile: (width: Int, height: Int) {
    self.operation.orientation.quarterTurns.isMultiple(of: 2) ? (2048, 4) : (32, 32)
  }

  init(description: PassDescription, operation: OrientOperation, keepsFourthChannel: Bool) {
    self.description = description
    self.operation = operation
    self.keepsFourthChannel = keepsFourthChannel
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let destination = context.output.view
    let inputs = PlaneShape.planes(source.format, source.size)
    let outputs = PlaneShape.planes(context.output.format, context.output.size)
    for (input, output) in zip(inputs, outputs) {
      let finish = RowFinish(
        context, output, fractionBits: 5, keepsAlpha: self.keepsFourthChannel)
      let cost = Double(output.samples * output.height) * 0.1
      await context.bands.run(
        rows: output.height, alignment: self.tile.height, nanoseconds: cost
      ) { band in
        self.run(band, source, input, destination, output, finish)
      }
    }
  }

  private func run(
    _ band: Range<Int>, _ source: RasterView, _ input: PlaneShape, _ destination: RasterView,
    _ output: PlaneShape, _ finish: RowFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let size = input.step * source.depth.byteCount
    let stride = source.stride(plane: input.plane)
    // How far apart neighbours of the result, side by side and one above the other, are in the source.
    let origin = self.place(0, 0, input)
    let (right, below) = (self.place(1, 0, input), self.place(0, 1, input))
    let column = (right.y - origin.y) * stride + (right.x - origin.x) * size
    let row = (below.y - origin.y) * stride + (below.x - origin.x) * size
    let isSame = source.depth == destination.depth
    let tile = self.tile
    let scratchStride = tile.width * size
    let scratch = SampleMemory(count: isSame ? 0 : tile.width * tile.height * output.step)
    for top in Swift.stride(from: band.lowerBound, to: band.upperBound, by: tile.height) {
      let height = min(tile.height, band.upperBound - top)
      for left in Swift.stride(from: 0, to: output.width, by: tile.width) {
        let width = min(tile.width, output.width - left)
        let first = self.place(left, top, input)
        let start = unsafe source.row(first.y, plane: input.plane) + first.x * size
        func result(_ y: Int) -> UnsafeMutableRawPointer {
          unsafe destination.row(y, plane: output.plane)
            + left * output.step * destination.depth.byteCount
        }
        guard !isSame else {
          unsafe rows.rotate(
            start, column, row, size, width, height, result(top),
            destination.stride(plane: output.plane))
          continue
        }
        unsafe rows.rotate(
          start, column, row, size, width, height, UnsafeMutableRawPointer(scratch[0]),
          scratchStride)
        for y in 0 ..< height {
          let turned = unsafe UnsafeMutableRawPointer(scratch[0]) + y * scratchStride
          let samples = width * output.step
          switch destination.depth {
          case .deep: unsafe rows.widen(turned, samples, result(top + y))
          case .eight:
            unsafe rows.narrow_u8(
              turned.assumingMemoryBound(to: Int16.self), 5, samples, result(top + y))
          }
        }
      }
      for y in top ..< top + height { unsafe finish.copyAlpha(y: y, rows) }
    }
  }

  private func place(_ x: Int, _ y: Int, _ input: PlaneShape) -> (x: Int, y: Int) {
    self.operation.source(x: x, y: y, width: input.width, height: input.height)
  }
}
