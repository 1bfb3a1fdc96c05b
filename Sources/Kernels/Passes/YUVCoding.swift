/// YUV code values to RGB in 0 ... 1 and back, from the definitions in ITU-R BT.601 and BT.709.
struct YUVCoding {
  private let kr: Double
  private let kb: Double
  private let offset: Double
  private let lumaRange: Double
  private let chromaRange: Double

  init(_ color: ColorDescription) {
    (self.kr, self.kb) = color.matrix == .bt601 ? (0.299, 0.114) : (0.2126, 0.0722)
    (self.offset, self.lumaRange, self.chromaRange) =
      color.range == .video ? (16, 219, 224) : (0, 255, 255)
  }

  func decode(_ y: Double, _ u: Double, _ v: Double) -> SIMD4<Double> {
    let luma = (y - self.offset) / self.lumaRange
    let blue = luma + 2 * (1 - self.kb) * (u - 128) / self.chromaRange
    let red = luma + 2 * (1 - self.kr) * (v - 128) / self.chromaRange
    let green = (luma - self.kr * red - self.kb * blue) / (1 - self.kr - self.kb)
    return [red, green, blue, 1]
  }

  func luma(_ pixel: SIMD4<Double>) -> Double {
    self.offset + self.lumaRange * self.unitLuma(pixel)
  }

  /// Cb, then Cr.
  func chroma(_ pixel: SIMD4<Double>) -> [Double] {
    let luma = self.unitLuma(pixel)
    return [
      128 + self.chromaRange * (pixel.z - luma) / (2 * (1 - self.kb)),
      128 + self.chromaRange * (pixel.x - luma) / (2 * (1 - self.kr)),
    ]
  }

  private func unitLuma(_ pixel: SIMD4<Double>) -> Double {
    self.kr * pixel.x + (1 - self.kr - self.kb) * pixel.y + self.kb * pixel.z
  }
}
