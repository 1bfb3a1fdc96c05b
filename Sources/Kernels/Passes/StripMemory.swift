/// Memory for strips, owned by one band.
@safe
struct StripMemory: ~Copyable {
  private let floats: UnsafeMutablePointer<Float>

  /// The floats of one strip: four planes.
  private static let stripFloats = 4 * Strip.capacity

  /// - Parameter strips: How many strips there is to be room for.
  init(strips: Int) {
    let count = strips * Self.stripFloats
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: count * MemoryLayout<Float>.stride, alignment: 64)
    unsafe self.floats = bytes.initializeMemory(as: Float.self, repeating: 0, count: count)
  }

  deinit {
    unsafe self.floats.deallocate()
  }

  /// The strip at an index in memory, for pixels yet to be set.
  func strip(_ index: Int, moment: FrameMoment) -> Strip {
    let base = unsafe self.floats + index * Self.stripFloats
    return unsafe Strip(
      red: base, green: base + Strip.capacity, blue: base + 2 * Strip.capacity,
      alpha: base + 3 * Strip.capacity, count: 0, x: 0, y: 0, moment: moment)
  }

  /// The strip at an index in memory, for the same pixels as another.
  func strip(_ index: Int, at other: Strip) -> Strip {
    var strip = self.strip(index, moment: other.moment)
    strip.count = other.count
    strip.x = other.x
    strip.y = other.y
    return strip
  }
}
