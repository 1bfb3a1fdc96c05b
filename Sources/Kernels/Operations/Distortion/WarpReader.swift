package import CKernels

/// A bilinear reader of a plane's pixels at computed positions. Owned by one band.
@safe
package struct WarpReader: ~Copyable {
  /// The plane in the form that the C rows use.
  package let plane: sl_remap_plane
  /// The positions of the next run.
  package let positions: WarpPositions
  private let start: UnsafeRawPointer
  private let stride: Int
  private let shape: PlaneShape
  private let empty: [Int16]
  private let memory: SampleMemory
  private let readRow:
    @convention(c) (
      UnsafeRawPointer, Int, Int, Int32, Int32, UnsafePointer<sl_remap_positions>,
      UnsafePointer<Int16>?, Int, UnsafeMutablePointer<Int16>
    ) -> Void

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - empty: The empty colour, in levels by channel, with which pixels of partial coverage are
  ///     mixed.
  ///   - capacity: The maximum number of pixels of a run.
  package init(_ source: RasterView, _ shape: PlaneShape, empty: [Double], capacity: Int) {
    let rows = unsafe sl_rows_current().pointee
    let isEightBit = source.depth == .eight
    self.stride = source.stride(plane: shape.plane)
    self.plane = sl_remap_plane(
      max_x: Float(shape.width - 1), max_y: Float(shape.height - 1),
      pixel_bytes: UInt32(shape.step * source.depth.byteCount), row_bytes: UInt32(self.stride))
    self.positions = WarpPositions(count: capacity)
    unsafe self.start = UnsafeRawPointer(source.row(0, plane: shape.plane))
    self.shape = shape
    // Sums are in units of 1/64 level from bytes, 1/32 from deep samples.
    self.empty = empty.map { Int16($0 * (isEightBit ? 64 : 32)) }
    self.memory = SampleMemory(count: capacity * shape.step + 64)
    unsafe self.readRow = isEightBit ? rows.remap_read_u8 : rows.remap_read_i16
  }

  /// Reads the pixels at ``places`` as sums: units of 1/64 level from bytes, 1/32 from deep
  /// samples.
  ///
  /// - Parameter covers: Whether pixels may have partial coverage.
  /// - Returns: The samples, valid until the next call.
  package func read(count: Int, covers: Bool) -> UnsafeMutablePointer<Int16> {
    let result = unsafe self.memory[0]
    unsafe self.empty.withUnsafeBufferPointer { empty in
      unsafe self.readRow(
        self.start, self.stride, self.shape.step, self.shape.width == 1 ? 1 : 0,
        self.shape.height == 1 ? 1 : 0, self.positions.pointers,
        covers ? empty.baseAddress : nil, count, result)
    }
    return unsafe result
  }
}

/// The source positions of the pixels of a tile's row. Owned by one band.
@safe
package struct WarpPositions: ~Copyable {
  private let bytes: UnsafeMutableRawPointer
  /// The arrays in the form that the C rows use.
  package let pointers: UnsafePointer<sl_remap_positions>

  /// Allocates positions.
  ///
  /// - Parameter count: The number of pixels.
  init(count: Int) {
    // One array with four bytes per entry and three with two.
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: count * 10, alignment: 64)
    let offset = unsafe bytes.initializeMemory(as: UInt32.self, repeating: 0, count: count)
    let right = unsafe (bytes + 4 * count)
      .initializeMemory(as: Int16.self, repeating: 0, count: 3 * count)
    let positions = UnsafeMutablePointer<sl_remap_positions>.allocate(capacity: 1)
    unsafe positions.initialize(
      to: sl_remap_positions(
        offset: offset, right: right, down: right + count, coverage: right + 2 * count))
    unsafe self.bytes = bytes
    unsafe self.pointers = UnsafePointer(positions)
  }

  deinit {
    unsafe self.pointers.deallocate()
    unsafe self.bytes.deallocate()
  }
}

/// A writer of parts of rows: from sums, or copied from the input.
@safe
struct SegmentWriter: Sendable {
  private let source: RasterView
  private let destination: RasterView
  private let shape: PlaneShape
  private let keepsAlpha: Bool

  /// Creates a writer.
  ///
  /// - Parameter keepsAlpha: Whether to copy every fourth sample from the source.
  init(_ context: PassContext, _ shape: PlaneShape, keepsAlpha: Bool) {
    self.source = context.inputs[0].view
    self.destination = context.output.view
    self.shape = shape
    self.keepsAlpha = keepsAlpha && shape.step == 4
  }

  /// Writes pixels from sums: units of 1/64 level if the input has bytes, 1/32 if it is deep.
  func write(_ sums: UnsafePointer<Int16>, x: Int, y: Int, count: Int, _ rows: sl_rows) {
    let samples = count * self.shape.step
    let (input, output) = unsafe self.pointers(x, y)
    let bits = self.source.depth == .eight ? 6 : 5
    if self.source.depth == .eight, self.destination.depth == .eight, self.keepsAlpha {
      return unsafe rows.narrow_colors(sums, bits, input, count, output)
    }
    switch self.destination.depth {
    case .eight: unsafe rows.narrow_u8(sums, bits, samples, output)
    case .deep: unsafe rows.narrow_i16(sums, bits - 5, samples, output)
    }
    guard self.keepsAlpha else { return }
    unsafe SampleCopy.copyAlpha(
      input, self.source.depth, output, self.destination.depth, pixels: count, rows)
  }

  /// Prefetches the memory of the same part of a row that is written four rows later.
  func fetch(x: Int, y: Int, count: Int) {
    let rows = unsafe sl_rows_current().pointee
    let (input, output) = unsafe self.pointers(x, min(y + 4, self.shape.height - 1))
    unsafe rows.prefetch_row(input, output, count * self.shape.step)
  }

  /// Copies the input's pixels.
  func copy(x: Int, y: Int, count: Int, _ rows: sl_rows) {
    let (input, output) = unsafe self.pointers(x, y)
    unsafe SampleCopy.copy(
      input, self.source.depth, output, self.destination.depth, count: count * self.shape.step, rows
    )
  }

  private func pointers(
    _ x: Int, _ y: Int
  ) -> (input: UnsafeMutableRawPointer, output: UnsafeMutableRawPointer) {
    let sample = x * self.shape.step
    return unsafe (
      self.source.row(y, plane: self.shape.plane) + sample * self.source.depth.byteCount,
      self.destination.row(y, plane: self.shape.plane) + sample * self.destination.depth.byteCount
    )
  }
}
