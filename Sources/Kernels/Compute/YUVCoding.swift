package import CKernels

/// YUV code values to RGB in 0 ... 1 and back, in double precision, using the definitions of ITU-R
/// BT.601 and BT.709.
package struct YUVCoding {
  private let kr: Double
  private let kb: Double
  private let offset: Double
  private let lumaRange: Double
  private let chromaRange: Double

  package init(_ color: ColorDescription) {
    (self.kr, self.kb) = color.matrix == .bt601 ? (0.299, 0.114) : (0.2126, 0.0722)
    (self.offset, self.lumaRange, self.chromaRange) =
      color.range == .video ? (16, 219, 224) : (0, 255, 255)
  }

  package func decode(_ y: Double, _ u: Double, _ v: Double) -> SIMD4<Double> {
    let luma = (y - self.offset) / self.lumaRange
    let blue = luma + 2 * (1 - self.kb) * (u - 128) / self.chromaRange
    let red = luma + 2 * (1 - self.kr) * (v - 128) / self.chromaRange
    let green = (luma - self.kr * red - self.kb * blue) / (1 - self.kr - self.kb)
    return [red, green, blue, 1]
  }

  package func luma(_ pixel: SIMD4<Double>) -> Double {
    self.offset + self.lumaRange * self.unitLuma(pixel)
  }

  /// Cb, then Cr.
  package func chroma(_ pixel: SIMD4<Double>) -> [Double] {
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

/// YUV code values to RGB in 0 ... 1 and back, as coefficients for the C rows.
///
/// With Kr and Kb of the matrix, full range: R = Y + 2 (1 - Kr) V, B = Y + 2 (1 - Kb) U, and G from
/// Y = Kr R + Kg G + Kb B; video range scales luma by 219/255 from 16, chroma by 224/255 (ITU-R
/// BT.601 and BT.709). Chroma is sited at the centre of its 2x2 pixels.
package struct YUVConversion: Sendable {
  /// Code values to RGB.
  package let toRGB: sl_yuv_to_rgb
  /// RGB to code values.
  package let fromRGB: sl_rgb_to_yuv

  package init(_ color: ColorDescription) {
    let (kr, kb): (Double, Double) =
      switch color.matrix {
      case .bt601: (0.299, 0.114)
      case .bt709: (0.2126, 0.0722)
      }
    let kg = 1 - kr - kb
    let (offset, lumaRange, chromaRange): (Double, Double, Double) =
      switch color.range {
      case .video: (16, 219, 224)
      case .full: (0, 255, 255)
      }
    self.toRGB = sl_yuv_to_rgb(
      luma_offset: Float(offset), luma_scale: Float(1 / lumaRange),
      red_v: Float(2 * (1 - kr) / chromaRange),
      green_u: Float(-2 * (1 - kb) * kb / kg / chromaRange),
      green_v: Float(-2 * (1 - kr) * kr / kg / chromaRange),
      blue_u: Float(2 * (1 - kb) / chromaRange))
    let u = chromaRange / (2 * (1 - kb))
    let v = chromaRange / (2 * (1 - kr))
    self.fromRGB = sl_rgb_to_yuv(
      luma: (Float(kr * lumaRange), Float(kg * lumaRange), Float(kb * lumaRange)),
      u: (Float(-kr * u), Float(-kg * u), Float((1 - kb) * u)),
      v: (Float((1 - kr) * v), Float(-kg * v), Float(-kb * v)),
      luma_offset: Float(offset))
  }
}

/// The affine map from one format's code values to another's, with a colour matrix in between.
///
/// Inputs and outputs are code values 0 ... 255: of pixels in memory order, or luma, Cb, Cr.
struct AffineCoding {
  /// The weights of the inputs per output.
  let weights: [[Double]]
  /// The biases of the outputs.
  let biases: [Double]

  /// Derives the weights from a map.
  ///
  /// - Parameter map: An affine map.
  init(inputs: Int, _ map: ([Double]) -> [Double]) {
    let zero = [Double](repeating: 0, count: inputs)
    let biases = map(zero)
    let columns = (0 ..< inputs).map { input -> [Double] in
      var unit = zero
      unit[input] = 1
      return zip(map(unit), biases).map { $0 - $1 }
    }
    self.biases = biases
    self.weights = biases.indices.map { row in columns.map { $0[row] } }
  }

  /// The weights in units of 1/8192; `nil` if they do not fit 16 bits.
  var fixedWeights: [[Int16]]? {
    guard self.weights.joined().allSatisfy({ abs($0) < 3.99 }),
      self.biases.allSatisfy({ abs($0) < 1000 })
    else { return nil }
    return self.weights.map { row in row.map { Int16(($0 * 8192).rounded()) } }
  }
}
