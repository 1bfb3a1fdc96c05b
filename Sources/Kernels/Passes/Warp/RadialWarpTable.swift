/// A radial map on one plane, sampled by distance.
struct RadialWarpTable: Sendable {
  /// Pairs of numbers by distance; one more than ``entries``.
  let values: [Float]
  /// How many steps there are.
  let entries: Int
  /// Steps a pixel of the plane.
  let density: Double
  /// Whether the map turns anywhere.
  let turns: Bool

  /// - Parameters:
  ///   - map: The map in pixels of the frame.
  ///   - scale: The plane's pixels in one of the frame's.
  init(_ map: RadialMap, scale: Double) {
    // Fine enough that a place is off by a few hundredths of a pixel where maps bend most: at the
    // rim of a hole.
    let length = map.reach * scale
    let wanted = length * max(8, map.hole > 0 ? 64 / map.hole : 64 / map.reach)
    self.entries = Int(min(max(wanted, 64), 16384))
    self.density = Double(self.entries) / length
    var values: [Float] = []
    values.reserveCapacity(2 * self.entries + 4)
    for entry in 0 ... self.entries + 1 {
      let distance = Double(min(entry, self.entries)) / self.density / scale
      let factor = map.factor(distance)
      values.append(Float(factor.re))
      values.append(Float(factor.im))
    }
    self.values = values
    self.turns = stride(from: 1, to: values.count, by: 2).contains { values[$0] != 0 }
  }
}
