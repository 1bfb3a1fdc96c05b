/// A convolution of every channel with 3x3 weights.
struct Convolution3X3: ConvolutionFilter {
  static let description = Self.makeDescription(
    "convolution3X3", "Replaces every channel by weighted sums over 3x3 pixels.", side: 3,
    example: "weights: [0, 1, 0, -1, 0, 1, 0, -1, 0], bias: 0.6")
  static let keepsAlpha = false

  let arguments: Arguments
}

/// A convolution of every channel with 5x5 weights.
struct Convolution5X5: ConvolutionFilter {
  static let description = Self.makeDescription(
    "convolution5X5", "Replaces every channel by weighted sums over 5x5 pixels.", side: 5,
    example: "weights: \(Array(repeating: 0.04, count: 25))")
  static let keepsAlpha = false

  let arguments: Arguments
}

/// A convolution of red, green and blue with 3x3 weights; alpha is kept.
struct ConvolutionRGB3X3: ConvolutionFilter {
  static let description = Self.makeDescription(
    "convolutionRGB3X3",
    "Replaces red, green and blue by weighted sums over 3x3 pixels; alpha is kept.", side: 3,
    example: "weights: [-2, -1, 0, -1, 1, 1, 0, 1, 2]")
  static let keepsAlpha = true

  let arguments: Arguments
}

/// The common part of the convolution filters, which differ in the number of weights and in their
/// treatment of alpha.
protocol ConvolutionFilter: ArgumentFilter {
  /// Whether alpha is kept instead of convolved.
  static var keepsAlpha: Bool { get }
}

extension ConvolutionFilter {
  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let operation = ConvolutionOperation(
      weights: self.arguments.vector("weights"), bias: self.arguments.number("bias"),
      keepsAlpha: Self.keepsAlpha)
    guard !operation.isIdentity else { return [] }
    return Border(self.arguments).nodes(for: geometry) { _, _ in
      [FilterNode(.neighborhood(operation))]
    }
  }

  fileprivate static func makeDescription(
    _ name: String, _ summary: String, side: Int, example: String
  ) -> FilterDescription {
    let count = side * side
    var identity = Array(repeating: 0.0, count: count)
    identity[count / 2] = 1
    let alpha =
      Self.keepsAlpha
      ? "alpha is kept"
      : "alpha is convolved too and limited to 0 ... 1, colour then to -1 ... 2; opaque pictures "
        + "stay opaque"
    return FilterDescription(
      name: name, summary: summary, category: .stylize, reach: .neighborhood, fidelity: .formula,
      isCoreImage: true, examples: ["\(name)(\(example))"],
      formula: """
        out(x, y) = bias + the sum of weights[i] * in(x + i % \(side) - \(side / 2), \
        y + i / \(side) - \(side / 2)): weights row by row from the top left. border sets the \
        pixels beyond the edges. Colour is premultiplied; \(alpha). In YUV formats luma is \
        convolved with the same weights, and chroma with those that give the same result for \
        samples that 2x2 pixels share
        """,
      parameters: [
        ParameterDescription(
          "weights", .vector(count: count), default: .vector(identity), limits: -256 ... 256,
          "The weights, row by row; the default changes nothing."),
        ParameterDescription(
          "bias", .number, default: .number(0), slider: -1 ... 1, limits: -256 ... 256,
          "The amount added to each channel."),
        Border.parameter,
      ])
  }
}

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

  package var limitsLast: Bool { true }

  /// Weights that differ on opposite sides of the pixel may shift the picture.
  package func spread(in geometry: FrameGeometry) -> Double? {
    self.weights == self.weights.reversed()
      ? Double(self.side / 2) + ContentSpread.rounding : nil
  }

  /// Returns the convolution of one plane's code values.
  ///
  /// - Parameters:
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
