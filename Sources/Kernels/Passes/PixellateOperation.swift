/// Squares of the mean colour.
struct PixellateOperation: NeighborhoodOperation {
  /// Where four squares meet, in pixels from the top left.
  let x: Double
  let y: Double
  /// A square's side in pixels.
  let scale: Double

  var words: String { "means over squares of \(self.scale) pixels" }

  func makePass(_ setting: PassSetting) -> any Pass {
    PixellatePass(setting, self)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    struct Square: Hashable {
      let x, y, channel: Int
    }
    func square(_ x: Int, _ y: Int, _ channel: Int) -> Square {
      let side = self.scale * plane.scale
      return Square(
        x: Int(((Double(x) + 0.5 - self.x * plane.scale) / side).rounded(.down)),
        y: Int(((Double(y) + 0.5 - self.y * plane.scale) / side).rounded(.down)),
        channel: channel)
    }
    var sums: [Square: (sum: Double, count: Double)] = [:]
    _ = plane.map { x, y, channel in
      let sample = plane[x, y, channel]
      let (sum, count) = sums[square(x, y, channel)] ?? (0, 0)
      sums[square(x, y, channel)] = (sum + sample, count + 1)
      return sample
    }
    return plane.map { x, y, channel in
      let (sum, count) = sums[square(x, y, channel)] ?? (0, 1)
      return sum / count
    }
  }
}
