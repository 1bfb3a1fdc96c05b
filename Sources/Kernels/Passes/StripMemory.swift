/// Scratch memory for strips, owned by one band.
@safe
struct StripMemory: ~Copyable {
  private let floats: UnsafeMutablePointer<Float>

  /// The floats of one strip: four planes.
  static let stripFloats = 4 * Strip.capacity

  /// - Parameter strips: How many strips there is to be room for.
  init(strips: Int) {
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: strips * Self.stripFloats * MemoryLayout<Float>.stride, alignment: 64)
    unsafe self.floats = bytes.bindMemory(
      to: Float.self, capacity: strips * Self.stripFloats)
    unsafe self.floats.update(repeating: 0, count: strips * Self.stripFloats)
  }

  deinit {
    unsafe self.floats.deallocate()
  }

  /// The strip's place in memory, as a strip of no pixels.
  func strip(_ index: Int, moment: FrameMoment) -> Strip {
    let base = unsafe self.floats + index * Self.stripFloats
    return unsafe Strip(
      red: base, green: base + Strip.capacity, blue: base + 2 * Strip.capacity,
      alpha: base + 3 * Strip.capacity, count: 0, x: 0, y: 0, moment: moment)
  }
}
