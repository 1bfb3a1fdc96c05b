/// The picture moved by an affine map, in a frame that stays as it is.
struct AffineOperation: NeighborhoodOperation {
  /// From places of the result to those of the input, in pixels; `nil` if nothing is to be seen.
  let inverse: AffineMap?
  /// Whether the pixels at the edges lie outside too; else there is nothing (``EmptyColor``).
  let clamps: Bool

  var kind: PassDescription.Kind { .warp }

  var words: String {
    let samples = self.samples
    return samples > 1
      ? "an affine map, the mean of \(samples)x\(samples) bilinear samples"
      : "an affine map, bilinear"
  }

  /// How many samples a pixel is the mean of, along x and along y: enough for those that it covers
  /// when the picture shrinks, and at most 8. One bilinear sample spans two pixels, and so does for
  /// up to one and a half.
  var samples: Int {
    guard let inverse = self.inverse else { return 1 }
    return min(max(Int((inverse.stretch - 0.5 - 1e-9).rounded(.up)), 1), 8)
  }

  func makePass(_ setting: PassSetting) -> any Pass {
    AffinePass(
      description: setting.description, operation: self,
      empty: EmptyColor.samples(setting.geometry).map { $0.map(Double.init) },
      keepsFourthChannel: setting.keepsFourthChannel)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    guard let inverse = self.inverse else {
      // So small that a clamped picture is one pixel, wherever one looks.
      return plane.map { _, _, channel in
        self.clamps ? plane[0, 0, channel] : plane.empty(channel: channel)
      }
    }
    func sample(_ x: Int, _ y: Int, _ channel: Int) -> Double {
      let isInside = (0 ..< plane.width).contains(x) && (0 ..< plane.height).contains(y)
      return isInside || self.clamps ? plane[x, y, channel] : plane.empty(channel: channel)
    }
    let count = self.samples
    return plane.map { x, y, channel in
      var sum = 0.0
      for row in 0 ..< count {
        for column in 0 ..< count {
          let place = inverse(
            (Double(x) + (Double(column) + 0.5) / Double(count)) / plane.scale,
            (Double(y) + (Double(row) + 0.5) / Double(count)) / plane.scale)
          let (u, v) = (place.x * plane.scale - 0.5, place.y * plane.scale - 0.5)
          let (left, top) = (u.rounded(.down), v.rounded(.down))
          let (fx, fy) = (u - left, v - top)
          let (i, j) = (Int(left), Int(top))
          sum +=
            (sample(i, j, channel) * (1 - fx) + sample(i + 1, j, channel) * fx) * (1 - fy)
            + (sample(i, j + 1, channel) * (1 - fx) + sample(i + 1, j + 1, channel) * fx) * fy
        }
      }
      return sum / Double(count * count)
    }
  }
}
