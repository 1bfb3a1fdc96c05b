/// The weights and the constant of a convolution of code values.
struct ConvolutionKernel: Sendable, Hashable {
  /// 3 or 5.
  let side: Int
  /// Row by row from the top left.
  let weights: [Double]
  /// What is added, in levels.
  let bias: Double
}
