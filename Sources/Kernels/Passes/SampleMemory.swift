/// Scratch rows of 16-bit samples, owned by one band.
@safe
struct SampleMemory: ~Copyable {
  private let samples: UnsafeMutablePointer<Int16>

  /// - Parameter count: How many samples there is to be room for.
  init(count: Int) {
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: count * 2, alignment: 64)
    unsafe self.samples = bytes.initializeMemory(as: Int16.self, repeating: 0, count: count)
  }

  deinit {
    unsafe self.samples.deallocate()
  }

  /// The sample at an offset.
  subscript(offset: Int) -> UnsafeMutablePointer<Int16> { unsafe self.samples + offset }
}
