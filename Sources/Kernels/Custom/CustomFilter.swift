/// A filter of your own without parameters, in a few lines.
///
/// ```swift
/// catalogue.register(CustomFilter("solarize", "Bends the tones.", color: Solarize()))
/// ```
///
/// For parameters conform to ``CatalogueFilter`` and return the same nodes.
public struct CustomFilter: Filter {
  /// What the catalogue tells of the filter.
  public let description: FilterDescription
  private let node: Node

  /// A filter of the colour of each pixel; it fuses with its neighbours in the pipeline.
  public init(_ name: String, _ summary: String, color kernel: some ColorKernel) {
    self.init(name, summary, .pixel, .colorKernel(kernel))
  }

  /// A filter of each pixel's neighbourhood.
  ///
  /// - Precondition: The kernel's reach lies in 0 ... 64.
  public init(_ name: String, _ summary: String, neighborhood kernel: some NeighborhoodKernel) {
    self.init(name, summary, .neighborhood, .neighborhoodKernel(kernel))
  }

  /// A function of the whole frame.
  ///
  /// - Parameter body: Reads the frame and writes every sample of the other one, which has the same
  ///   geometry, and comes as zeros; it is written, and never replaced by another. Called on compute
  ///     threads, for several frames at a time.
  public init(
    _ name: String, _ summary: String,
    frame body: @escaping @Sendable (Frame, inout MutableFrame, FrameMoment) throws -> Void
  ) {
    self.init(name, summary, .frame, .frame(body))
  }

  /// An analysis that only looks.
  public init(_ name: String, _ summary: String, analysis: some FrameAnalysis) {
    self.init(name, summary, .frame, .analysis(analysis), category: .analysis)
  }

  private init(
    _ name: String, _ summary: String, _ reach: FilterDescription.Reach, _ node: Node,
    category: FilterDescription.Category = .custom
  ) {
    self.description = FilterDescription(
      name: name, summary: summary, category: category, reach: reach, fidelity: .custom,
      formula: "A filter of this server's own")
    self.node = node
  }

  /// The one node that the filter is.
  public func nodes(for geometry: FrameGeometry) -> [Node] { [self.node] }
}

/// A user's function of a whole frame.
struct FramePass: Pass {
  let description: PassDescription
  let color: ColorDescription
  let body: @Sendable (Frame, inout MutableFrame, FrameMoment) throws -> Void

  func run(_ context: PassContext) async throws {
    let input = context.inputs[0].frame(color: self.color, orientation: .upright)
    var output = context.output.mutableFrame(color: self.color)
    // What the function leaves unwritten is nobody's former picture.
    unsafe _ = output.buffer.bytes.initializeMemory(as: UInt8.self, repeating: 0)
    try self.body(input, &output, context.moment)
    precondition(
      output.buffer === context.output.mutableFrame(color: self.color).buffer
        && output.layout == context.output.layout,
      "the function put another frame in the place of the one it was to write")
  }
}
