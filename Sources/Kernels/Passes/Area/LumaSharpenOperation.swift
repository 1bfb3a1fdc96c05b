/// Adds the difference of luma from its Gaussian to all channels: sharper, and no colour changes.
///
/// Where there is alpha, luma is that of premultiplied colour, and what is added is multiplied by
/// alpha; so nothing is added where nothing can be seen.
struct LumaSharpenOperation: NeighborhoodOperation {
  /// The Gaussian's standard deviation in pixels.
  let sigma: Double
  /// How much of the difference.
  let gain: Double

  var words: String { "luma sharpened by \(self.gain) of its detail below sigma \(self.sigma)" }

  var averages: Bool { false }

  func makePass(_ setting: PassSetting) -> any Pass {
    LumaSharpenPass(setting, self)
  }

  func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    guard planes[0].step >= 3 else {
      // A plane of luma, or of nothing but grey; chroma stays.
      let blurred = GaussianBlurOperation(sigma: self.sigma).reference(planes[0])
      let luma = planes[0].map { x, y, channel in
        let value = planes[0][x, y, channel]
        return value + self.gain * (value - blurred[x, y, channel])
      }
      return [luma] + planes.dropFirst()
    }
    let weights = LumaWeights(geometry.format).exact
    let plane = planes[0]
    let luma = ReferencePlane(
      width: plane.width, height: plane.height, step: 1, scale: 1,
      samples: (0 ..< plane.width * plane.height).map { pixel in
        (0 ..< 3).reduce(0) { $0 + weights[$1] * plane.samples[pixel * plane.step + $1] }
      })
    let blurred = GaussianBlurOperation(sigma: self.sigma).reference(luma)
    let hasAlpha = geometry.format.hasAlpha && geometry.color.alpha != .opaque
    return [
      plane.map { x, y, channel in
        guard channel < 3 else { return plane[x, y, channel] }
        let alpha = hasAlpha ? plane[x, y, 3] / 255 : 1
        return plane[x, y, channel] + self.gain * alpha * (luma[x, y, 0] - blurred[x, y, 0])
      }.boundedByAlpha(of: geometry)
    ]
  }
}
