/// The mean along a ray from each pixel to a centre.
struct RayBlurOperation: NeighborhoodOperation {
  /// The centre in pixels from the top left.
  let center: (x: Double, y: Double)
  /// How far the ray goes: 1 is the centre, less than 0 away from it.
  let extent: Double
  /// How many points of the ray count.
  let tapCount: Int

  /// The longest ray is sampled every so many pixels, unless that were more than ``tapLimits``.
  private static let spacing = 8.0
  private static let tapLimits = 8 ... 64

  init(center: (x: Double, y: Double), extent: Double, size: FrameSize) {
    self.center = center
    self.extent = extent
    let longest = RadialMap.greatestDistance(from: center, in: size) * abs(extent)
    let wanted = (longest / Self.spacing).rounded(.up)
    self.tapCount = Int(
      min(max(wanted, Double(Self.tapLimits.lowerBound)), Double(Self.tapLimits.upperBound)))
  }

  /// How far from the centre each tap is, as a share of the pixel's own distance.
  var scales: [Double] {
    (0 ..< self.tapCount).map { 1 - self.extent * (Double($0) + 0.5) / Double(self.tapCount) }
  }

  var words: String { "means of \(self.tapCount) points along rays to a centre" }

  func makePass(_ setting: PassSetting) -> any Pass {
    RayBlurPass(setting, self)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    let scales = self.scales
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
