/// Models of mattes and key colours in the code values of a format.
package struct MatteCoding {
  /// The weights of three channels, in the order in memory or as luma and Cb and Cr above grey, and
  /// a bias, from weights of red, green and blue less 128 and a bias in 1/255.
  package let matrix: [[Double]]
  /// The luma of black, and of white above it.
  package let lumaOffset: Double
  package let lumaRange: Double
  /// The maximum chroma above grey.
  package let chromaRange: Double
  /// The code values of a colour: four rows of weights of red, green, blue and alpha in levels, in
  /// the order in memory or as luma, Cb and Cr. In YUV formats alpha, 255, gives the offsets.
  package let encoding: [[Double]]
  package let coding: YUVCoding

  package init(_ geometry: FrameGeometry) {
    var color = geometry.color
    if !geometry.format.isYUV { color.range = .full }
    self.coding = YUVCoding(color)
    (self.lumaOffset, self.lumaRange, self.chromaRange) =
      color.range == .video ? (16, 219, 112) : (0, 255, 127.5)
    let coding = self.coding
    if let order = PixelOrder.colors(of: geometry.format), geometry.format != .gray8 {
      self.encoding =
        order.prefix(3).map { channel in (0 ..< 4).map { $0 == channel ? 1 : 0 } } + [[0, 0, 0, 1]]
    } else {
      func codes(_ color: SIMD4<Double>) -> [Double] {
        [coding.luma(color), coding.chroma(color)[0], coding.chroma(color)[1]]
      }
      let black = codes([0, 0, 0, 1])
      let colors = [codes([1, 0, 0, 1]), codes([0, 1, 0, 1]), codes([0, 0, 1, 1])]
      self.encoding =
        (0 ..< 3).map { code in
          colors.map { ($0[code] - black[code]) / 255 } + [black[code] / 255]
        } + [[0, 0, 0, 1]]
    }
    /// The levels of red, green and blue less 128 at three code values.
    func levels(_ values: [Double]) -> [Double] {
      switch geometry.format {
      case .bgra8: return [values[2] - 128, values[1] - 128, values[0] - 128]
      case .rgba8, .rgb24: return values.map { $0 - 128 }
      case .gray8: return [values[0] - 128, values[0] - 128, values[0] - 128]
      case .i420, .nv12:
        let pixel = YUVCoding(color).decode(values[0], values[1] + 128, values[2] + 128)
        return [255 * pixel.x - 128, 255 * pixel.y - 128, 255 * pixel.z - 128]
      }
    }
    let affine = AffineCoding(inputs: 3, levels)
    self.matrix =
      (0 ..< 3).map { channel in (0 ..< 3).map { affine.weights[$0][channel] / 255 } + [0] }
      + [affine.biases.map { $0 / 255 } + [1 / 255.0]]
  }
}
