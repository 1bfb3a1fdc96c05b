import Foundation
package import SidelightKernels

extension BoxBlurOperation: ReferenceOperation {
  package var sumsPixels: Bool { true }

  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
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

extension GaussianBlurOperation: ReferenceOperation {
  package var sumsPixels: Bool { true }

  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
    let sigma = self.sigma * plane.scale
    guard sigma >= Self.minSigma else { return plane }
    let radius = Int((sigma * 6).rounded(.up))
    let weights = (-radius ... radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
    let sum = weights.reduce(0, +)
    // The Gaussian is separable, so two steps are exact.
    let down = plane.map { x, y, channel in
      zip(-radius ... radius, weights).reduce(0) { $0 + plane[x, y + $1.0, channel] * $1.1 } / sum
    }
    return down.map { x, y, channel in
      zip(-radius ... radius, weights).reduce(0) { $0 + down[x + $1.0, y, channel] * $1.1 } / sum
    }
  }
}

extension LineBlurOperation: ReferenceOperation {
  package var sumsPixels: Bool { true }

  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
    let line = self.line
    let sum = line.taps.reduce(0) { $0 + $1.weight }
    let (right, down) = line.isFlat ? (0, 1) : (1, 0)
    return plane.map { x, y, channel in
      line.taps.reduce(0) { total, tap in
        let first = plane[x + tap.x, y + tap.y, channel]
        let second = plane[x + tap.x + right, y + tap.y + down, channel]
        return total + (first + (second - first) * tap.fraction) * tap.weight
      } / sum
    }
  }
}

extension ZoomBlurOperation: ReferenceOperation {
  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
    self.stages.reduce(plane) { self.mean($0, scales: $1) }
  }

  private func mean(_ plane: ReferencePlane, scales: [Double]) -> ReferencePlane {
    let (centerX, centerY) = (self.center.x * plane.scale, self.center.y * plane.scale)
    func clamped(_ position: Double, _ count: Int) -> (index: Int, fraction: Double) {
      let position = min(max(position, 0), Double(count - 1))
      return (Int(position), position - position.rounded(.down))
    }
    return plane.map { x, y, channel in
      scales.reduce(0.0) { sum, scale in
        let u = clamped(centerX + (Double(x) + 0.5 - centerX) * scale - 0.5, plane.width)
        let v = clamped(centerY + (Double(y) + 0.5 - centerY) * scale - 0.5, plane.height)
        func between(_ row: Int) -> Double {
          let left = plane[u.index, row, channel]
          return left + (plane[u.index + 1, row, channel] - left) * u.fraction
        }
        let upper = between(v.index)
        return sum + upper + (between(v.index + 1) - upper) * v.fraction
      } / Double(scales.count)
    }
  }
}
