import CKernels

/// Reads runs of a plane's pixels at computed places, bilinear. Owned by one band.
@safe
struct WarpReader: ~Copyable {
  /// The plane, as rows in C take it.
  let plane: sl_remap_plane
  /// Where the run that is read next comes from.
  let places: WarpPlaces
  private let start: UnsafeRawPointer
  private let stride: Int
  private let shape: PlaneShape
  private let nothing: [Int16]
  private let memory: SampleMemory
  private let readRow:
    @convention(c) (
      UnsafeRawPointer, Int, Int, Int32, Int32, UnsafePointer<sl_remap_positions>,
      UnsafePointer<Int16>?, Int, UnsafeMutablePointer<Int16>
    ) -> Void

  /// - Parameters:
  ///   - source: What is read.
  ///   - shape: Which plane of it.
  ///   - nothing: What stands where pixels are covered by less than all: a level a channel.
  ///   - capacity: How many pixels a run has at most.
  init(_ source: RasterView, _ shape: PlaneShape, nothing: [Double], capacity: Int) {
    let rows = unsafe sl_rows_current().pointee
    let isNarrow = source.depth == .eight
    self.stride = source.stride(plane: shape.plane)
    self.plane = sl_remap_plane(
      max_x: Float(shape.width - 1), max_y: Float(shape.height - 1),
      pixel_bytes: UInt32(shape.step * source.depth.byteCount), row_bytes: UInt32(self.stride))
    self.places = WarpPlaces(count: capacity)
    unsafe self.start = UnsafeRawPointer(source.row(0, plane: shape.plane))
    self.shape = shape
    // A sum is 1/64 level from bytes, 1/32 from deep samples.
    self.nothing = nothing.map { Int16($0 * (isNarrow ? 64 : 32)) }
    self.memory = SampleMemory(count: capacity * shape.step + 64)
    unsafe self.readRow = isNarrow ? rows.remap_read_u8 : rows.remap_read_i16
  }

  /// Reads the pixels at ``places`` as sums: 1/64 level from bytes, 1/32 from deep samples.
  ///
  /// - Parameter covers: Whether some of them may be covered by less than all.
  /// - Returns: The samples, until the next call.
  func read(count: Int, covers: Bool) -> UnsafeMutablePointer<Int16> {
    let result = unsafe self.memory[0]
    unsafe self.nothing.withUnsafeBufferPointer { nothing in
      unsafe self.readRow(
        self.start, self.stride, self.shape.step, self.shape.width == 1 ? 1 : 0,
        self.shape.height == 1 ? 1 : 0, self.places.pointers,
        covers ? nothing.baseAddress : nil, count, result)
    }
    return unsafe result
  }
}
