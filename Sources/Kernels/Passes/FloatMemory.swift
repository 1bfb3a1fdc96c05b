/// Scratch rows of floats, owned by one band.
@safe
struct FloatMemory: ~Copyable {
  private let floats: UnsafeMutablePointer<Float>

  /// - Parameter count: How many floats there is to be room for; all are 0 at first.
  init(count: Int) {
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: max(count, 1) * MemoryLayout<Float>.stride, alignment: 64)
    unsafe self.floats = bytes.initializeMemory(as: Float.self, repeating: 0, count: count)
  }

  deinit {
    unsafe self.floats.deallocate()
  }

  /// The float at an offset.
  subscript(offset: Int) -> UnsafeMutablePointer<Float> { unsafe self.floats + offset }
}
