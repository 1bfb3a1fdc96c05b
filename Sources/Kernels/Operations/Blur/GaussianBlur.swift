import CKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Spreads each pixel by a Gaussian.
struct GaussianBlur: CatalogueFilter {
  static let description = FilterDescription(
    name: "gaussianBlur",
    summary: "Spreads pixels by a Gaussian distribution.",
    category: .blur, reach: .neighborhood, fidelity: .formula,
    formula: """
      The convolution with exp(-(x^2 + y^2) / (2 radius^2)), normalised: radius is the standard \
      deviation. Beyond the edges lies border; alpha is blurred with premultiplied colour. Below .16 nothing \
      changes
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(10), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation."),
      Border.parameter,
    ])

  private let radius: Length
  private let border: Border

  init(_ arguments: Arguments) {
    self.radius = arguments.length("radius")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let sigma = min(self.radius.pixels(in: geometry.size), 1024)
    guard sigma >= GaussianBlurOperation.leastSigma else { return [] }
    return self.border.nodes(for: geometry) { _, _ in [.gaussianBlur(sigma: sigma)] }
  }
}

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

/// A Gaussian blur of each plane; chroma of 4:2:0 formats as the pixels that share it
/// (``PlaneWeights``), which is very nearly a Gaussian of variance sigma^2 / 4 + 1/8 in its samples.
///
/// Narrow ones are computed as they are defined, first down and then across. Wide ones on a picture
/// of means over squares, with the standard deviation that is left after what the means
/// ((f^2 - 1) / 12) and the linear interpolation back (f^2 / 6) blur by themselves.
package struct GaussianBlurPass: Pass {
  package let description: PassDescription
  private let sigma: Double
  private let keepsFourthChannel: Bool

  init(_ setting: PassSetting, sigma: Double) {
    self.description = setting.description
    self.sigma = sigma
    self.keepsFourthChannel = setting.keepsFourthChannel
  }

  /// How many-fold a plane is reduced for a standard deviation in its own pixels: the largest power
  /// of two that leaves 2.4 reduced pixels, and no more than 64.
  static func factor(sigma: Double) -> Int {
    var factor = 1
    while factor < 64, sigma / Double(2 * factor) >= 2.4 { factor *= 2 }
    return factor
  }

  /// The standard deviation on a plane in its samples, for one in pixels of the frame that is not
  /// small.
  static func sigma(_ sigma: Double, on shape: PlaneShape) -> Double {
    shape.scale < 1 ? (sigma * sigma / 4 + 0.125).squareRoot() : sigma
  }

  package func run(_ context: PassContext) async {
    for shape in PlaneShape.planes(context.output.format, context.output.size) {
      let sigma = Self.sigma(self.sigma, on: shape)
      let factor = Self.factor(sigma: sigma)
      let keepsAlpha = self.keepsFourthChannel
      if self.sigma < GaussianBlurOperation.leastSigma {
        await PlaneCopy(shape: shape).run(context)
      } else if factor == 1 {
        let weights = SymmetricWeights.gaussian(sigma: self.sigma)
        await SymmetricPlane(
          shape, of: context.output.size, horizontal: weights, vertical: weights,
          keepsAlpha: keepsAlpha
        ).run(context)
      } else {
        await GaussianPyramid(
          shape: shape, sigma: sigma, factor: factor, keepsAlpha: keepsAlpha
        ).run(context)
      }
    }
  }
}
