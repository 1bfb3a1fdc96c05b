/// A weighted mean of neighbours that are the same for every pixel: a line, a box.
struct SparseFilterOperation: NeighborhoodOperation {
  /// A neighbour and its weight.
  struct Tap: Sendable, Hashable {
    let x: Int
    let y: Int
    let weight: Double
  }

  let words: String
  /// The taps on a plane of which one pixel of the frame is so many pixels. Weights are not negative
  /// and sum to 1.
  let taps: @Sendable (_ scale: Double) -> [Tap]

  /// A mean along a line through the pixel.
  ///
  /// - Parameters:
  ///   - dx: Half the line's extent to the right, in pixels.
  ///   - dy: Half its extent down.
  static func line(dx: Double, dy: Double) -> SparseFilterOperation {
    SparseFilterOperation(words: "mean along a line of \(2 * dx) by \(2 * dy) pixels") { scale in
      let (dx, dy) = (dx * scale, dy * scale)
      let steps = max(1, Int(max(abs(dx), abs(dy)).rounded(.up)))
      var taps = TapSum()
      for step in -steps ... steps {
        let place = Double(step) / Double(steps)
        taps.add(x: dx * place, y: dy * place)
      }
      return taps.normalized
    }
  }

  func makePass(_ setting: PassSetting) -> any Pass {
    SparseFilterPass(setting, self)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    let taps = self.taps(plane.scale)
    return plane.map { x, y, channel in
      taps.reduce(0) { $0 + plane[x + $1.x, y + $1.y, channel] * $1.weight }
    }
  }

  /// Places between pixels, shared out among the four round them.
  private struct TapSum {
    private struct Offset: Hashable {
      let x: Int
      let y: Int
    }

    private var weights: [Offset: Double] = [:]

    mutating func add(x: Double, y: Double) {
      let (left, top) = (x.rounded(.down), y.rounded(.down))
      let (right, bottom) = (x - left, y - top)
      for (column, wx) in [(0, 1 - right), (1, right)] where wx > 0 {
        for (row, wy) in [(0, 1 - bottom), (1, bottom)] where wy > 0 {
          self.weights[Offset(x: Int(left) + column, y: Int(top) + row), default: 0] += wx * wy
        }
      }
    }

    var normalized: [Tap] {
      let sum = self.weights.values.reduce(0, +)
      return self.weights
        .map { Tap(x: $0.key.x, y: $0.key.y, weight: $0.value / sum) }
        .sorted { ($0.y, $0.x) < ($1.y, $1.x) }
    }
  }
}
