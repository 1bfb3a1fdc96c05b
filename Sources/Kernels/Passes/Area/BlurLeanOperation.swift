/// Moves each pixel towards its blurred neighbourhood or away from it, by how much depending on
/// which of them is the brighter: in + up * max(0, d) + down * min(0, d), d = blur(in) - in.
///
/// Equal gains are a mix (negative: an unsharp mask), and work on every plane. Others are decided by
/// each channel of RGB and grey formats for itself; where there is luma, luma decides, and chroma
/// follows by as much of its own difference, softly where luma barely differs. Alpha is a channel like the
/// others, within bounds.
struct BlurLeanOperation: NeighborhoodOperation {
  /// The Gaussian's standard deviation in pixels.
  let sigma: Double
  /// How far towards a neighbourhood that is brighter.
  let up: Double
  /// How far towards one that is darker.
  let down: Double

  /// The greatest standard deviation that is computed as defined and not on a reduced picture.
  static let greatestExactSigma = 4.8
  /// Where luma differs by this many levels, chroma follows whole.
  static let ramp = 16.0

  /// Whether the result is linear in the picture.
  var isLinear: Bool { self.up == self.down }

  var words: String {
    if self.isLinear { return "unsharp mask of sigma \(self.sigma)" }
    let goal = self.up > 0 ? "brighter" : "darker"
    return "drawn to a Gaussian of sigma \(self.sigma) where it is \(goal)"
  }

  func makePass(_ setting: PassSetting) -> any Pass {
    self.isLinear && self.sigma <= Self.greatestExactSigma
      ? UnsharpPass(setting, self) : BlurLeanPass(setting, self)
  }

  func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    let blurred = GaussianBlurOperation(sigma: self.sigma).reference(planes, of: geometry)
    return planes.indices.map { index in
      let (plane, blur) = (planes[index], blurred[index])
      return plane.map { x, y, channel in
        let value = plane[x, y, channel]
        let difference = blur[x, y, channel] - value
        guard plane.scale < 1, !self.isLinear else {
          return value + difference * (difference > 0 ? self.up : self.down)
        }
        // The luma of the pixels that share the sample.
        let luma = [(0, 0), (1, 0), (0, 1), (1, 1)].reduce(0.0) { sum, offset in
          let (lumaX, lumaY) = (2 * x + offset.0, 2 * y + offset.1)
          return sum + (blurred[0][lumaX, lumaY, 0] - planes[0][lumaX, lumaY, 0]) / 4
        }
        let share = min(abs(luma) / Self.ramp, 1) * (luma > 0 ? self.up : self.down)
        return value + difference * share
      }.boundedByAlpha(of: geometry)
    }
  }
}
