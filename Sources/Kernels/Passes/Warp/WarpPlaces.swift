import CKernels

/// Where the pixels of a tile's row come from. Owned by one band.
@safe
struct WarpPlaces: ~Copyable {
  private let bytes: UnsafeMutableRawPointer
  /// The arrays, as rows in C take them.
  let pointers: UnsafePointer<sl_remap_positions>

  /// - Parameter count: How many pixels there is to be room for.
  init(count: Int) {
    // One array of four bytes an entry and three of two.
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: count * 10, alignment: 64)
    let offset = unsafe bytes.initializeMemory(as: UInt32.self, repeating: 0, count: count)
    let right = unsafe (bytes + 4 * count)
      .initializeMemory(as: Int16.self, repeating: 0, count: 3 * count)
    let places = UnsafeMutablePointer<sl_remap_positions>.allocate(capacity: 1)
    unsafe places.initialize(
      to: sl_remap_positions(
        offset: offset, right: right, down: right + count, cover: right + 2 * count))
    unsafe self.bytes = bytes
    unsafe self.pointers = UnsafePointer(places)
  }

  deinit {
    unsafe self.pointers.deallocate()
    unsafe self.bytes.deallocate()
  }
}
