/// The mean over a square about each pixel.
struct BoxBlurOperation: NeighborhoodOperation {
  /// How far the square reaches beyond the pixel on each side, in pixels; at least 0.
  let radius: Double

  /// The reach on a plane, in its samples, of what reaches so far in the frame.
  static func reach(_ radius: Double, scale: Double) -> Double {
    max(0, ((2 * radius + 1) * scale - 1) / 2)
  }

  var words: String { "means over squares of \(2 * self.radius + 1) pixels, by running sums" }

  var sumsPixels: Bool { true }

  func makePass(_ setting: PassSetting) -> any Pass {
    BoxBlurPass(setting, horizontal: self.radius, vertical: self.radius)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    let reach = self.radius
    let whole = Int(reach)
    let fraction = reach - Double(whole)
    // Pixels that the square covers in part count in part.
    let weights = (-whole - 1 ... whole + 1).map { ($0, abs($0) > whole ? fraction : 1) }
    let sum = 2 * reach + 1
    let down = plane.map { x, y, channel in
      weights.reduce(0) { $0 + plane[x, y + $1.0, channel] * $1.1 } / sum
    }
    return down.map { x, y, channel in
      weights.reduce(0) { $0 + down[x + $1.0, y, channel] * $1.1 } / sum
    }
  }
}
