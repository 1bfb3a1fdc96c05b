/// Weighted sums over a square of neighbours, plus a constant.
package struct ConvolutionOperation: NeighborhoodOperation {
  /// The weights, row by row from the top left; their number is an odd number squared.
  package let weights: [Double]
  /// The added constant, in units of 0 ... 1.
  package let bias: Double
  /// Whether alpha is kept instead of convolved.
  package let keepsAlpha: Bool

  /// The side of the square of weights.
  package var side: Int { self.weights.count == 25 ? 5 : 3 }

  /// Whether the convolution doesn't change the frame.
  package var isIdentity: Bool {
    let middle = self.weights.count / 2
    return self.bias == 0
      && self.weights.indices.allSatisfy { self.weights[$0] == ($0 == middle ? 1 : 0) }
  }

  package var summary: String { "convolution of \(self.side)x\(self.side)" }

  package func makePass(_ setting: PassSetting) -> any Pass {
    ConvolutionPass(setting: setting, operation: self)
  }

  package var sumsPixels: Bool { true }
  package var limitsLast: Bool { true }

  /// Weights that differ on opposite sides of the pixel may shift the picture.
  package func spread(in geometry: FrameGeometry) -> Double? {
    self.weights == self.weights.reversed()
      ? Double(self.side / 2) + ContentSpread.rounding : nil
  }

  /// Returns the convolution of one plane's code values.
  ///
  /// - Parameters:
  ///   - shape: The plane.
  ///   - geometry: The geometry of pictures.
  ///   - isLastColumn: Whether to return the kernel of the last column of shared chroma in a frame
  ///     of odd width.
  ///   - isLastRow: Whether to return the kernel of the last row of shared chroma in a frame of odd
  ///     height.
  package func kernel(
    _ shape: PlaneShape, of geometry: FrameGeometry, isLastColumn: Bool = false,
    isLastRow: Bool = false
  ) -> ConvolutionKernel {
    let bias = self.bias(scale: shape.scale, of: geometry)
    guard shape.scale < 1 else {
      return ConvolutionKernel(side: self.side, weights: self.weights, bias: bias)
    }
    return ConvolutionKernel(
      side: 3, weights: self.chromaWeights(isLastColumn: isLastColumn, isLastRow: isLastRow),
      bias: bias)
  }

  /// The bias of a plane, in code values.
  package func bias(scale: Double, of geometry: FrameGeometry) -> Double {
    guard geometry.format.isYUV else { return self.bias * 255 }
    // YUV is an affine map of RGB: the zero points of the planes do not change.
    let sum = self.weights.reduce(0, +)
    guard scale == 1 else { return 128 * (1 - sum) }
    return geometry.color.range == .video
      ? self.bias * 219 + 16 * (1 - sum) : self.bias * 255
  }

  /// The weights on chroma of half the size that equal the convolution of full-size chroma: a
  /// sample counts for the two pixels that share it and is the mean of two results. The last sample
  /// along an odd side belongs to one pixel and is that pixel's result.
  private func chromaWeights(isLastColumn: Bool, isLastRow: Bool) -> [Double] {
    let reach = self.side / 2
    // The chroma sample of the pixel at `offset` from one of the two pixels.
    func cell(_ offset: Int, _ half: Int) -> Int { ((offset + half) >> 1) + 1 }
    let rows = isLastRow ? 0 ... 0 : 0 ... 1
    let columns = isLastColumn ? 0 ... 0 : 0 ... 1
    var result = Array(repeating: 0.0, count: 9)
    for (index, weight) in self.weights.enumerated() {
      let (row, column) = (index / self.side - reach, index % self.side - reach)
      for halfRow in rows {
        for halfColumn in columns {
          result[cell(row, halfRow) * 3 + cell(column, halfColumn)] +=
            weight / Double(rows.count * columns.count)
        }
      }
    }
    return result
  }
}

/// The weights and the constant of a convolution of code values.
package struct ConvolutionKernel: Sendable, Hashable {
  /// 3 or 5.
  package let side: Int
  /// Row by row from the top left.
  package let weights: [Double]
  /// The added constant, in levels.
  package let bias: Double
}
