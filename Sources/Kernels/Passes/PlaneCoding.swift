/// How colours are carried over into the coordinates of a format's planes: code values counted from
/// black.
struct PlaneCoding {
  /// The code values of black.
  let offsets: [Double]
  /// Colour in 0 ... 1 to code values, from black.
  private let encode: [SIMD4<Double>]
  /// Code values from black to colour.
  private let decode: [SIMD4<Double>]

  /// - Returns: `nil` for formats whose planes hold pixels.
  init?(_ geometry: FrameGeometry) {
    switch geometry.format {
    case .bgra8, .rgba8, .rgb24: return nil
    case .gray8:
      self.offsets = [0]
      self.encode = [SIMD4(Grayscale.luma * 255, 0)]
      self.decode = [[1 / 255.0, 1 / 255.0, 1 / 255.0, 0]]
    case .i420, .nv12:
      let coding = YUVCoding(geometry.color)
      let black: SIMD4<Double> = [0, 0, 0, 1]
      self.offsets = [coding.luma(black), 128, 128]
      func column(_ channel: Int) -> [Double] {
        var pixel = black
        pixel[channel] = 1
        return [coding.luma(pixel) - coding.luma(black)]
          + coding.chroma(pixel).map { $0 - 128 }
      }
      let columns = (0 ..< 3).map(column)
      self.encode = (0 ..< 3).map { row in [columns[0][row], columns[1][row], columns[2][row], 0] }
      let base = coding.luma(black)
      self.decode = [
        coding.decode(base + 1, 128, 128), coding.decode(base, 129, 128),
        coding.decode(base, 128, 129),
      ]
    }
  }

  /// A colour's difference in code values.
  func vector(_ color: SIMD4<Double>) -> [Double] {
    self.encode.map { ($0 * SIMD4(color.x, color.y, color.z, 0)).sum() }
  }

  /// The linear part of a colour matrix between code values from black; a row for each result.
  ///
  /// - Parameter source: How the code values are coded that go in.
  func matrix(_ matrix: ColorMatrix, from source: PlaneCoding) -> [[Double]] {
    var linear = matrix
    linear.bias = .zero
    let columns = source.decode.map { code -> [Double] in
      self.vector(linear([code.x, code.y, code.z, 0]))
    }
    return self.encode.indices.map { row in columns.map { $0[row] } }
  }
}
