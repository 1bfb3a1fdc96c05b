#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The mean along a line through each pixel.
struct LineBlurOperation: NeighborhoodOperation {
  /// How far the line reaches beyond the pixel to both sides, in pixels; at least 0.
  let radius: Double
  /// The line's angle to the horizontal in radians, counterclockwise as one sees it.
  let angle: Double

  /// The line in pixels of the frame.
  var line: LineTaps {
    // Rows count downwards.
    LineTaps(length: 2 * self.radius + 1, cosine: cos(self.angle), sine: -sin(self.angle))
  }

  var words: String { "means along a line of \(2 * self.radius + 1) pixels" }

  var sumsPixels: Bool { true }

  func makePass(_ setting: PassSetting) -> any Pass {
    // Level and upright lines are boxes, whose means need no sum for each pixel of the line.
    if abs(sin(self.angle)) < 1e-9 {
      return BoxBlurPass(setting, horizontal: self.radius, vertical: 0)
    }
    if abs(cos(self.angle)) < 1e-9 {
      return BoxBlurPass(setting, horizontal: 0, vertical: self.radius)
    }
    return LineBlurPass(setting, self)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    let line = self.line
    let sum = line.taps.reduce(0) { $0 + $1.weight }
    let (right, down) = line.isFlat ? (0, 1) : (1, 0)
    return plane.map { x, y, channel in
      line.taps.reduce(0) { total, tap in
        let first = plane[x + tap.x, y + tap.y, channel]
        let second = plane[x + tap.x + right, y + tap.y + down, channel]
        return total + (first + (second - first) * tap.share) * tap.weight
      } / sum
    }
  }
}
