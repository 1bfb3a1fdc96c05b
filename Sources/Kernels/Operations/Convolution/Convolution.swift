/// A convolution of every channel with 3x3 weights.
struct Convolution3X3: ConvolutionFilter {
  static let description = Self.makeDescription(
    "convolution3X3", "Replaces every channel by weighted sums over 3x3 pixels.", side: 3,
    example: "weights: [0, 1, 0, -1, 0, 1, 0, -1, 0], bias: 0.6")
  static let keepsAlpha = false

  let settings: ConvolutionSettings

  init(_ arguments: Arguments) {
    self.settings = ConvolutionSettings(arguments)
  }
}

/// A convolution of every channel with 5x5 weights.
struct Convolution5X5: ConvolutionFilter {
  static let description = Self.makeDescription(
    "convolution5X5", "Replaces every channel by weighted sums over 5x5 pixels.", side: 5,
    example: "weights: \(Array(repeating: 0.04, count: 25))")
  static let keepsAlpha = false

  let settings: ConvolutionSettings

  init(_ arguments: Arguments) {
    self.settings = ConvolutionSettings(arguments)
  }
}

/// A convolution of red, green and blue with 3x3 weights; alpha is kept.
struct ConvolutionRGB3X3: ConvolutionFilter {
  static let description = Self.makeDescription(
    "convolutionRGB3X3",
    "Replaces red, green and blue by weighted sums over 3x3 pixels; alpha is kept.", side: 3,
    example: "weights: [-2, -1, 0, -1, 1, 1, 0, 1, 2]")
  static let keepsAlpha = true

  let settings: ConvolutionSettings

  init(_ arguments: Arguments) {
    self.settings = ConvolutionSettings(arguments)
  }
}

/// The common part of the convolution filters, which differ in the number of weights and in their
/// treatment of alpha.
protocol ConvolutionFilter: CatalogueFilter {
  /// Whether alpha is kept instead of convolved.
  static var keepsAlpha: Bool { get }

  var settings: ConvolutionSettings { get }
}

/// The parameters of a convolution filter.
struct ConvolutionSettings: Sendable {
  /// The weights, row by row from the top left.
  let weights: [Double]
  /// The added constant, in units of 0 ... 1.
  let bias: Double
  let border: Border

  init(_ arguments: Arguments) {
    self.weights = arguments.vector("weights")
    self.bias = arguments.number("bias")
    self.border = Border(arguments)
  }
}

extension ConvolutionFilter {
  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let operation = ConvolutionOperation(
      weights: self.settings.weights, bias: self.settings.bias, keepsAlpha: Self.keepsAlpha)
    guard !operation.isIdentity else { return [] }
    return self.settings.border.nodes(for: geometry) { _, _ in
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
