/// The mean along a ray from each pixel to a centre.
struct RayBlurOperation: NeighborhoodOperation {
  /// The centre in pixels from the top left.
  let center: (x: Double, y: Double)
  /// How far the ray goes: 1 is the centre, less than 0 away from it.
  let extent: Double
  /// Points a stage; two stages make their square.
  static let tapCount = 8

  /// How far from the centre the points of each stage are, as shares of the pixel's own distance:
  /// first close together over an eighth of the ray, and then an eighth of the ray apart.
  var stages: [[Double]] {
    let (count, extent) = (Self.tapCount, self.extent)
    return [
      (0 ..< count).map { 1 - extent * (Double($0) + 0.5) / Double(count * count) },
      (0 ..< count).map { 1 - extent * Double($0) / Double(count) },
    ]
  }

  var words: String { "means of 64 points along rays to a centre, in two stages of 8" }

  func makePass(_ setting: PassSetting) -> any Pass {
    RayBlurPass(setting, self)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    self.stages.reduce(plane) { self.mean($0, scales: $1) }
  }

  private func mean(_ plane: ReferencePlane, scales: [Double]) -> ReferencePlane {
    let (centerX, centerY) = (self.center.x * plane.scale, self.center.y * plane.scale)
    func clamped(_ place: Double, _ count: Int) -> (index: Int, share: Double) {
      let place = min(max(place, 0), Double(count - 1))
      return (Int(place), place - place.rounded(.down))
    }
    return plane.map { x, y, channel in
      scales.reduce(0.0) { sum, scale in
        let u = clamped(centerX + (Double(x) + 0.5 - centerX) * scale - 0.5, plane.width)
        let v = clamped(centerY + (Double(y) + 0.5 - centerY) * scale - 0.5, plane.height)
        func between(_ row: Int) -> Double {
          let left = plane[u.index, row, channel]
          return left + (plane[u.index + 1, row, channel] - left) * u.share
        }
        let upper = between(v.index)
        return sum + upper + (between(v.index + 1) - upper) * v.share
      } / Double(scales.count)
    }
  }
}
