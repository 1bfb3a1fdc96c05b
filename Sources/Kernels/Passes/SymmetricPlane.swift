import CKernels

/// A narrow symmetric filter of one plane: for each row, down and then across.
struct SymmetricPlane {
  let shape: PlaneShape
  let across: PlaneWeights
  let down: PlaneWeights
  let keepsAlpha: Bool

  /// - Parameters:
  ///   - horizontal: The weights along rows at distances 0 and up, in pixels of the frame.
  ///   - vertical: The weights along columns.
  init(
    _ shape: PlaneShape, of size: FrameSize, horizontal: [Double], vertical: [Double],
    keepsAlpha: Bool
  ) {
    self.shape = shape
    self.across = PlaneWeights(horizontal, shape, length: size.width)
    self.down = PlaneWeights(vertical, shape, length: size.height)
    self.keepsAlpha = keepsAlpha
  }

  func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let shape = self.shape
    let finish = RowFinish(
      context, shape, fractionBits: source.depth == .eight ? 6 : 5, keepsAlpha: self.keepsAlpha)
    let taps = Double(4 + self.across.radius + self.down.radius)
    let cost = Double(shape.samples * shape.height) * 0.04 * taps
    await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
      self.run(band, source, finish)
    }
  }

  private func run(_ band: Range<Int>, _ source: RasterView, _ finish: RowFinish) {
    let rows = unsafe sl_rows_current().pointee
    let shape = self.shape
    let margin = self.across.radius * shape.step
    let memory = SampleMemory(count: 2 * (shape.samples + 2 * margin))
    let column = unsafe memory[margin]
    let result = unsafe memory[shape.samples + 2 * margin]
    let isNarrow = source.depth == .eight
    let vertical = unsafe isNarrow ? rows.fir_vertical_u8 : rows.fir_vertical_i16
    func filter(_ weights: SymmetricWeights, from start: Int) {
      unsafe weights.values.withUnsafeBufferPointer {
        unsafe rows.fir_horizontal(
          column + start, shape.step, weights.radius, $0.baseAddress.unsafelyUnwrapped,
          shape.samples - start, isNarrow ? 1 : 0, result + start)
      }
    }
    for y in band {
      let down = self.down.weights(at: y, of: shape.height)
      unsafe RowPointers.withRows(source, shape, y - down.radius ... y + down.radius) { pointers in
        unsafe down.values.withUnsafeBufferPointer {
          unsafe vertical(
            pointers, down.radius, $0.baseAddress.unsafelyUnwrapped, shape.samples, column)
        }
      }
      unsafe rows.replicate_edges(column, shape.step, shape.width, self.across.radius)
      filter(self.across.inner, from: 0)
      if let last = self.across.last { filter(last, from: shape.samples - shape.step) }
      unsafe finish.write(result, y: y, rows)
    }
  }
}

extension PlaneWeights {
  /// The weights of a sample along the axis.
  func weights(at place: Int, of length: Int) -> SymmetricWeights {
    place == length - 1 ? self.last ?? self.inner : self.inner
  }
}
