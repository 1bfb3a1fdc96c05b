/// Copies of the rows round the one that is being computed, with the outermost pixels repeated
/// beyond both ends: what filters with clamped edges read.
///
/// A ring: a row stays until the one that is `capacity` further is asked for. Owned by one band.
@safe
struct PaddedRows: ~Copyable {
  private let source: RasterView
  private let shape: PlaneShape
  private let capacity: Int
  private let margin: Int
  private let sampleBytes: Int
  private let stride: Int
  private let bytes: UnsafeMutableRawPointer
  private var held: [Int]

  /// - Parameters:
  ///   - source: Where rows come from.
  ///   - shape: The plane.
  ///   - capacity: How many neighbouring rows are needed at once.
  ///   - margin: How many pixels beyond each end are read.
  init(_ source: RasterView, _ shape: PlaneShape, capacity: Int, margin: Int) {
    self.source = source
    self.shape = shape
    // The rows of the plane are all there are.
    let capacity = min(capacity, shape.height)
    self.capacity = capacity
    self.margin = margin
    self.sampleBytes = source.depth.byteCount
    // Room for whole vectors at the end; and no stride that falls into the same cache sets.
    let row = (shape.width + 2 * margin) * shape.step * source.depth.byteCount + 128
    let stride = (row + 63) & ~63
    self.stride = stride.isMultiple(of: 4096) ? stride + 64 : stride
    unsafe self.bytes = .allocate(byteCount: self.stride * capacity, alignment: 64)
    unsafe self.bytes.initializeMemory(as: UInt8.self, repeating: 0, count: self.stride * capacity)
    self.held = Array(repeating: -1, count: capacity)
  }

  deinit {
    unsafe self.bytes.deallocate()
  }

  /// The first pixel of a row; beyond the top and the bottom, of the row there.
  mutating func row(_ y: Int) -> UnsafeRawPointer {
    let y = min(max(y, 0), self.shape.height - 1)
    let slot = y % self.capacity
    let pixelBytes = self.shape.step * self.sampleBytes
    let start = unsafe self.bytes + (slot * self.stride + self.margin * pixelBytes)
    guard self.held[slot] != y else { return UnsafeRawPointer(start) }
    self.held[slot] = y
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
