/// Every channel by weighted sums over 3x3 pixels.
struct Convolution3X3: CatalogueFilter {
  static let description = FilterDescription(
    name: "convolution3X3",
    summary: "Every channel by weighted sums over 3x3 pixels.",
    category: .stylize, reach: .neighborhood, fidelity: .formula,
    formula: """
      out(x, y) = bias + the sum of weights[i] * in(x + i % 3 - 1, y + i / 3 - 1): weights row by \
      row from the top left. Beyond the edges lies border; colour is premultiplied; alpha is convolved too, and kept within 0 ... 1, colour then within \
      -1 ... 2; what is opaque stays opaque. In YUV formats \
      the same on luma, and on chroma what it comes to for samples that serve 2x2 pixels
      """,
    parameters: [
      ParameterDescription(
        "weights", .vector(count: 9),
        default: .vector([0, 0, 0, 0, 1, 0, 0, 0, 0]),
        limits: -256 ... 256, "The weights, row by row; by default they change nothing."),
      ParameterDescription(
        "bias", .number, default: .number(0), slider: -1 ... 1, limits: -256 ... 256,
        "What is added to each channel."),
      Border.parameter,
    ])

  private let weights: [Double]
  private let bias: Double
  private let border: Border

  init(_ arguments: Arguments) {
    self.weights = arguments.vector("weights")
    self.bias = arguments.number("bias")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let operation = ConvolutionOperation(
      weights: self.weights, bias: self.bias, keepsAlpha: false)
    guard !operation.isIdentity else { return [] }
    return self.border.nodes(for: geometry) { _, _ in [Node(.neighborhood(operation))] }
  }
}

/// Every channel by weighted sums over 5x5 pixels.
struct Convolution5X5: CatalogueFilter {
  static let description = FilterDescription(
    name: "convolution5X5",
    summary: "Every channel by weighted sums over 5x5 pixels.",
    category: .stylize, reach: .neighborhood, fidelity: .formula,
    formula: """
      out(x, y) = bias + the sum of weights[i] * in(x + i % 5 - 2, y + i / 5 - 2): weights row by \
      row from the top left. Beyond the edges lies border; colour is premultiplied; alpha is convolved too, and kept within 0 ... 1, colour then within \
      -1 ... 2; what is opaque stays opaque. In YUV formats \
      the same on luma, and on chroma what it comes to for samples that serve 2x2 pixels
      """,
    parameters: [
      ParameterDescription(
        "weights", .vector(count: 25),
        default: .vector([
          0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ]),
        limits: -256 ... 256, "The weights, row by row; by default they change nothing."),
      ParameterDescription(
        "bias", .number, default: .number(0), slider: -1 ... 1, limits: -256 ... 256,
        "What is added to each channel."),
      Border.parameter,
    ])

  private let weights: [Double]
  private let bias: Double
  private let border: Border

  init(_ arguments: Arguments) {
    self.weights = arguments.vector("weights")
    self.bias = arguments.number("bias")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let operation = ConvolutionOperation(
      weights: self.weights, bias: self.bias, keepsAlpha: false)
    guard !operation.isIdentity else { return [] }
    return self.border.nodes(for: geometry) { _, _ in [Node(.neighborhood(operation))] }
  }
}

/// Red, green and blue by weighted sums over 3x3 pixels; alpha stays.
struct ConvolutionRGB3X3: CatalogueFilter {
  static let description = FilterDescription(
    name: "convolutionRGB3X3",
    summary: "Red, green and blue by weighted sums over 3x3 pixels; alpha stays.",
    category: .stylize, reach: .neighborhood, fidelity: .formula,
    formula: """
      out(x, y) = bias + the sum of weights[i] * in(x + i % 3 - 1, y + i / 3 - 1): weights row by \
      row from the top left. Beyond the edges lies border; colour is premultiplied; alpha stays. In YUV formats \
      the same on luma, and on chroma what it comes to for samples that serve 2x2 pixels
      """,
    parameters: [
      ParameterDescription(
        "weights", .vector(count: 9),
        default: .vector([0, 0, 0, 0, 1, 0, 0, 0, 0]),
        limits: -256 ... 256, "The weights, row by row; by default they change nothing."),
      ParameterDescription(
        "bias", .number, default: .number(0), slider: -1 ... 1, limits: -256 ... 256,
        "What is added to each channel."),
      Border.parameter,
    ])

  private let weights: [Double]
  private let bias: Double
  private let border: Border

  init(_ arguments: Arguments) {
    self.weights = arguments.vector("weights")
    self.bias = arguments.number("bias")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let operation = ConvolutionOperation(
      weights: self.weights, bias: self.bias, keepsAlpha: true)
    guard !operation.isIdentity else { return [] }
    return self.border.nodes(for: geometry) { _, _ in [Node(.neighborhood(operation))] }
  }
}
