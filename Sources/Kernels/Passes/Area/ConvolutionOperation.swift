/// Weighted sums over a square of neighbours, plus a constant.
struct ConvolutionOperation: NeighborhoodOperation {
  /// Row by row from the top left; an odd number squared.
  let weights: [Double]
  /// What is added, in units of 0 ... 1.
  let bias: Double
  /// Whether alpha is passed on instead of convolved.
  let keepsAlpha: Bool

  /// The width of the square of weights.
  var side: Int { self.weights.count == 25 ? 5 : 3 }

  /// Whether nothing changes.
  var isIdentity: Bool {
    let middle = self.weights.count / 2
    return self.bias == 0
      && self.weights.indices.allSatisfy { self.weights[$0] == ($0 == middle ? 1 : 0) }
  }

  var words: String { "convolution of \(self.side)x\(self.side)" }

  var averages: Bool { false }

  func makePass(_ setting: PassSetting) -> any Pass {
    ConvolutionPass(setting, self)
  }

  /// The convolution of one plane's code values.
  func kernel(_ shape: PlaneShape, of geometry: FrameGeometry) -> ConvolutionKernel {
    let unit = geometry.format.isYUV && geometry.color.range == .video ? 219.0 : 255.0
    let sum = self.weights.reduce(0, +)
    guard geometry.format.isYUV else {
      return ConvolutionKernel(side: self.side, weights: self.weights, bias: self.bias * 255)
    }
    // YUV is an affine image of RGB: the zeros of the planes stay where they are.
    guard shape.scale < 1 else {
      let black = geometry.color.range == .video ? 16.0 : 0
      return ConvolutionKernel(
        side: self.side, weights: self.weights, bias: self.bias * unit + black * (1 - sum))
    }
    return ConvolutionKernel(side: 3, weights: self.chromaWeights(), bias: 128 * (1 - sum))
  }

  /// What the convolution of full-size chroma is on chroma of half the size: each sample counts for
  /// the two pixels that share it, and is the mean of two results.
  private func chromaWeights() -> [Double] {
    let reach = self.side / 2
    // The chroma sample that the pixel `offset` from one of the two lies in.
    func cell(_ offset: Int, _ half: Int) -> Int { ((offset + half) >> 1) + 1 }
    var result = Array(repeating: 0.0, count: 9)
    for (index, weight) in self.weights.enumerated() {
      let (row, column) = (index / self.side - reach, index % self.side - reach)
      for halfRow in 0 ... 1 {
        for halfColumn in 0 ... 1 {
          result[cell(row, halfRow) * 3 + cell(column, halfColumn)] += weight / 4
        }
      }
    }
    return result
  }

  func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    zip(PlaneShape.planes(geometry.format, geometry.size), planes).map { shape, plane in
      let kernel = self.kernel(shape, of: geometry)
      let reach = kernel.side / 2
      return plane.map { x, y, channel in
        guard channel < 3 || !self.keepsAlpha else { return plane[x, y, channel] }
        var sum = kernel.bias
        for row in 0 ..< kernel.side {
          for column in 0 ..< kernel.side {
            sum +=
              kernel.weights[row * kernel.side + column]
              * plane[x + column - reach, y + row - reach, channel]
          }
        }
        return sum
      }.boundedByAlpha(of: geometry)
    }
  }
}
