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
    // rim of a hole, and where a twirl is tight.
    let length = map.reach * scale
    // Between two entries a place is off by an eighth of the bend at most; .002 pixels may be.
    let bend = (Self.bend(map) / (8 * 0.002)).squareRoot()
    let wanted = length * max(4, map.hole > 0 ? 64 / map.hole : 64 / map.reach, bend / scale)
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
    self.turns = stride(from: 1, to: values.count, by: 2).contains { values[$0] != 0 }
    self.values = values
  }

  /// How much places bend with the distance at most, in pixels for a pixel squared: the factor's
  /// second derivative times the distance.
  private static func bend(_ map: RadialMap) -> Double {
    let step = map.reach / 32
    guard map.hole == 0, step > 0 else { return 0 }
    return (1 ..< 31).reduce(0.0) { worst, index in
      let distance = Double(index) * step
      // Over a small part of the step, for a factor may turn many times within it.
      let near = step / 16
      let (a, b, c) = (
        map.factor(distance - near), map.factor(distance), map.factor(distance + near)
      )
      let (re, im) = (a.re - 2 * b.re + c.re, a.im - 2 * b.im + c.im)
      return max(worst, (re * re + im * im).squareRoot() / (near * near) * distance)
    }
  }
}
