#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A Gaussian blur with clamped edges.
struct GaussianBlurOperation: NeighborhoodOperation {
  /// The standard deviation in pixels.
  let sigma: Double

  /// Below this a Gaussian is narrower than a pixel can show.
  static let leastSigma = 0.16

  var words: String {
    let factor = GaussianBlurPass.factor(sigma: self.sigma)
    return factor == 1
      ? "Gaussian of sigma \(self.sigma), down and then across each plane"
      : "Gaussian of sigma \(self.sigma), on planes reduced \(factor)-fold"
  }

  var sumsPixels: Bool { true }

  func makePass(_ setting: PassSetting) -> any Pass {
    GaussianBlurPass(setting, sigma: self.sigma)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    let sigma = self.sigma * plane.scale
    guard sigma >= Self.leastSigma else { return plane }
    let radius = Int((sigma * 6).rounded(.up))
    let weights = (-radius ... radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
    let sum = weights.reduce(0, +)
    // Separable, so exact in two steps.
    let down = plane.map { x, y, channel in
      zip(-radius ... radius, weights).reduce(0) { $0 + plane[x, y + $1.0, channel] * $1.1 } / sum
    }
    return down.map { x, y, channel in
      zip(-radius ... radius, weights).reduce(0) { $0 + down[x + $1.0, y, channel] * $1.1 } / sum
    }
  }
}
