import CKernels

/// The rows round the one that is being computed, as floats in levels, with the outermost pixels
/// repeated beyond both ends.
///
/// A ring: a row stays until the one that is `capacity` further is asked for. Owned by one band.
@safe
struct FloatRows: ~Copyable {
  private let source: RasterView
  private let shape: PlaneShape
  private let capacity: Int
  private let margin: Int
  private let stride: Int
  private let floats: UnsafeMutablePointer<Float>
  private var held: [Int]

  /// - Parameters:
  ///   - source: Where rows come from.
  ///   - shape: The plane.
  ///   - capacity: How many neighbouring rows are needed at once.
  ///   - margin: How many pixels beyond each end are read.
  init(_ source: RasterView, _ shape: PlaneShape, capacity: Int, margin: Int) {
    self.source = source
    self.shape = shape
    self.capacity = capacity
    self.margin = margin
    // Room for whole vectors at the end; and no stride that falls into the same cache sets.
    let stride = ((shape.width + 2 * margin) * shape.step + 63) & ~15
    self.stride = stride.isMultiple(of: 1024) ? stride + 16 : stride
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: self.stride * capacity * 4, alignment: 64)
    unsafe self.floats = bytes.initializeMemory(
      as: Float.self, repeating: 0, count: self.stride * capacity)
    self.held = Array(repeating: -1, count: capacity)
  }

  deinit {
    unsafe self.floats.deallocate()
  }

  /// The first sample of a row; beyond the top and the bottom, of the row there.
  mutating func row(_ y: Int) -> UnsafeMutablePointer<Float> {
    let y = min(max(y, 0), self.shape.height - 1)
    let slot = y % self.capacity
    let step = self.shape.step
    let start = unsafe self.floats + (slot * self.stride + self.margin * step)
    guard self.held[slot] != y else { return unsafe start }
    self.held[slot] = y
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
