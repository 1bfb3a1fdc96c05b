import CKernels

/// Copies of the rows around the row that is being computed, with the edge pixels repeated beyond
/// both ends, for filters that clamp at edges.
///
/// A ring: a row is valid until the row `capacity` further is requested. Owned by one band.
@safe
struct PaddedRows: ~Copyable {
  private let source: RasterView
  private let shape: PlaneShape
  private let capacity: Int
  private let margin: Int
  private let sampleBytes: Int
  private let stride: Int
  private let bytes: UnsafeMutableRawPointer
  private var loadedRows: [Int]

  /// Creates a ring.
  ///
  /// - Parameters:
  ///   - source: The raster that rows are read from.
  ///   - capacity: The number of neighbouring rows that are needed at the same time.
  ///   - margin: The number of pixels beyond both ends.
  init(_ source: RasterView, _ shape: PlaneShape, capacity: Int, margin: Int) {
    self.source = source
    self.shape = shape
    // A plane has as many rows as its height.
    let capacity = min(capacity, shape.height)
    self.capacity = capacity
    self.margin = margin
    self.sampleBytes = source.depth.byteCount
    // Room for whole vectors at the end, and a stride that doesn't map rows to the same cache sets.
    let row = (shape.width + 2 * margin) * shape.step * source.depth.byteCount + 128
    let stride = (row + 63) & ~63
    self.stride = stride.isMultiple(of: 4096) ? stride + 64 : stride
    unsafe self.bytes = .allocate(byteCount: self.stride * capacity, alignment: 64)
    unsafe self.bytes.initializeMemory(as: UInt8.self, repeating: 0, count: self.stride * capacity)
    self.loadedRows = Array(repeating: -1, count: capacity)
  }

  deinit {
    unsafe self.bytes.deallocate()
  }

  /// The first pixel of a row. Beyond the top and bottom, the row at the edge.
  mutating func row(_ y: Int) -> UnsafeRawPointer {
    let y = min(max(y, 0), self.shape.height - 1)
    let slot = y % self.capacity
    let pixelBytes = self.shape.step * self.sampleBytes
    let start = unsafe self.bytes + (slot * self.stride + self.margin * pixelBytes)
    guard self.loadedRows[slot] != y else { return UnsafeRawPointer(start) }
    self.loadedRows[slot] = y
    let rowBytes = self.shape.samples * self.sampleBytes
    unsafe start.copyMemory(
      from: self.source.row(y, plane: self.shape.plane), byteCount: rowBytes)
    for pixel in 0 ..< self.margin {
      unsafe (start - (pixel + 1) * pixelBytes).copyMemory(from: start, byteCount: pixelBytes)
      unsafe (start + (rowBytes + pixel * pixelBytes)).copyMemory(
        from: start + (rowBytes - pixelBytes), byteCount: pixelBytes)
    }
    return UnsafeRawPointer(start)
  }
}

/// The rows around the row that is being computed, as floats in levels, with the edge pixels
/// repeated beyond both ends.
///
/// A ring: a row is valid until the row `capacity` further is requested. Owned by one band.
@safe
struct FloatRows: ~Copyable {
  private let source: RasterView
  private let shape: PlaneShape
  private let capacity: Int
  private let margin: Int
  private let stride: Int
  private let floats: UnsafeMutablePointer<Float>
  private var loadedRows: [Int]

  /// Creates a ring.
  ///
  /// - Parameters:
  ///   - source: The raster that rows are read from.
  ///   - capacity: The number of neighbouring rows that are needed at the same time.
  ///   - margin: The number of pixels beyond both ends.
  init(_ source: RasterView, _ shape: PlaneShape, capacity: Int, margin: Int) {
    self.source = source
    self.shape = shape
    self.capacity = capacity
    self.margin = margin
    // Room for whole vectors at the end, and a stride that doesn't map rows to the same cache sets.
    let stride = ((shape.width + 2 * margin) * shape.step + 63) & ~15
    self.stride = stride.isMultiple(of: 1024) ? stride + 16 : stride
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: self.stride * capacity * 4, alignment: 64)
    unsafe self.floats = bytes.initializeMemory(
      as: Float.self, repeating: 0, count: self.stride * capacity)
    self.loadedRows = Array(repeating: -1, count: capacity)
  }

  deinit {
    unsafe self.floats.deallocate()
  }

  /// The first sample of a row. Beyond the top and bottom, the row at the edge.
  mutating func row(_ y: Int) -> UnsafeMutablePointer<Float> {
    let y = min(max(y, 0), self.shape.height - 1)
    let slot = y % self.capacity
    let step = self.shape.step
    let start = unsafe self.floats + (slot * self.stride + self.margin * step)
    guard self.loadedRows[slot] != y else { return unsafe start }
    self.loadedRows[slot] = y
    let rows = unsafe sl_rows_current().pointee
    let convert = unsafe self.source.depth == .eight ? rows.to_float_u8 : rows.to_float_i16
    unsafe convert(self.source.row(y, plane: self.shape.plane), self.shape.samples, start)
    for pixel in 0 ..< self.margin {
      for channel in 0 ..< step {
        unsafe start[channel - (pixel + 1) * step] = start[channel]
        unsafe start[self.shape.samples + pixel * step + channel] =
          start[self.shape.samples - step + channel]
      }
    }
    return unsafe start
  }
}
