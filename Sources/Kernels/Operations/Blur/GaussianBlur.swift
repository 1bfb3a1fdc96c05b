import CKernels

/// A Gaussian blur.
struct GaussianBlur: ArgumentFilter {
  static let description = FilterDescription(
    name: "gaussianBlur",
    summary: "Blurs by a Gaussian distribution.",
    category: .blur, reach: .neighborhood, fidelity: .formula, isCoreImage: true,
    keywords: "soft smooth hide",
    examples: ["gaussianBlur(radius: 0.0125h)"],
    formula: """
      The convolution with exp(-(x^2 + y^2) / (2 radius^2)), normalised: radius is the standard \
      deviation. border sets the pixels beyond the edges. Colour is premultiplied, and alpha is \
      blurred too. A radius below .16 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(10), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation."),
      Border.parameter,
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let sigma = min(self.arguments.length("radius").pixels(in: geometry.size), 1024)
    guard sigma >= GaussianBlurOperation.minSigma else { return [] }
    return Border(self.arguments).nodes(for: geometry) { _, _ in [.gaussianBlur(sigma: sigma)] }
  }
}

/// A Gaussian blur with clamped edges.
package struct GaussianBlurOperation: NeighborhoodOperation {
  /// The standard deviation in pixels.
  package let sigma: Double

  /// The minimum standard deviation that changes a picture.
  package static let minSigma = 0.16

  package init(sigma: Double) {
    self.sigma = sigma
  }

  package var summary: String {
    let factor = GaussianBlurPass.factor(sigma: self.sigma)
    return factor == 1
      ? "Gaussian of sigma \(self.sigma), down and then across each plane"
      : "Gaussian of sigma \(self.sigma), on planes reduced \(factor)-fold"
  }

  package func spread(in geometry: FrameGeometry) -> Double? {
    ContentSpread.gaussian(sigma: self.sigma)
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    GaussianBlurPass(setting: setting, sigma: self.sigma)
  }
}

/// A Gaussian blur of every plane. Chroma of 4:2:0 formats is blurred like the pixels that share it
/// (``PlaneWeights``), which is nearly a Gaussian of variance sigma^2 / 4 + 1/8 in samples of the
/// plane.
///
/// Narrow Gaussians are computed from their definition, first vertically and then horizontally.
/// Wide ones are computed on a picture of means over squares of side f, with the variance that
/// remains after subtracting the variance of the means ((f^2 - 1) / 12) and of the linear
/// interpolation back (f^2 / 6).
package struct GaussianBlurPass: OperationPass {
  package let setting: PassSetting
  /// The standard deviation in pixels of the frame.
  let sigma: Double

  /// The factor by which a plane is reduced for a standard deviation in its pixels: the largest
  /// power of two that leaves at least 2.4 reduced pixels, at most 64.
  static func factor(sigma: Double) -> Int {
    var factor = 1
    while factor < 64, sigma / Double(2 * factor) >= 2.4 { factor *= 2 }
    return factor
  }

  /// The standard deviation in samples of a plane, for a large one in pixels of the frame.
  static func sigma(_ sigma: Double, on shape: PlaneShape) -> Double {
    shape.scale < 1 ? (sigma * sigma / 4 + 0.125).squareRoot() : sigma
  }

  package func run(_ context: PassContext) async {
    for shape in PlaneShape.planes(context.output.format, context.output.size) {
      let sigma = Self.sigma(self.sigma, on: shape)
      let factor = Self.factor(sigma: sigma)
      let keepsAlpha = self.setting.keepsFourthChannel
      if self.sigma < GaussianBlurOperation.minSigma {
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

extension FilterNode {
  /// A Gaussian blur with clamped edges. A sigma below 0.16 doesn't change the frame.
  ///
  /// - Parameter sigma: The standard deviation in pixels.
  public static func gaussianBlur(sigma: Double) -> FilterNode {
    FilterNode(.neighborhood(GaussianBlurOperation(sigma: sigma)))
  }
}
