import CKernels

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
