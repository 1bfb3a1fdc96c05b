/// A custom filter without parameters.
///
/// ```swift
/// catalogue.register(CustomFilter("solarize", "Bends the tones.", color: Solarize()))
/// ```
///
/// For a filter with parameters, conform to ``CatalogueFilter`` and return the same nodes.
public struct CustomFilter: Filter {
  /// The filter's name, summary and properties.
  public let description: FilterDescription
  private let node: FilterNode

  /// Creates a filter of single pixels' colours. It fuses with its neighbours in the pipeline.
  public init(_ name: String, _ summary: String, color kernel: some ColorKernel) {
    self.init(name, summary, .pixel, .colorKernel(kernel))
  }

  /// Creates a filter of pixels' neighbourhoods.
  ///
  /// - Precondition: The kernel's reach is in 0 ... 64.
  public init(_ name: String, _ summary: String, neighborhood kernel: some NeighborhoodKernel) {
    self.init(name, summary, .neighborhood, .neighborhoodKernel(kernel))
  }

  /// Creates a filter from a function of the whole frame.
  ///
  /// - Parameters:
  ///   - name: The filter's name, in lower camel case.
  ///   - summary: One line.
  ///   - body: Reads the first frame and writes the samples of the second, which has the same
  ///     geometry and is initialised to zeros. It must not replace the second frame. Called on
  ///     compute threads, concurrently for several frames.
  public init(
    _ name: String, _ summary: String,
    frame body: @escaping @Sendable (Frame, inout MutableFrame, FrameTime) throws -> Void
  ) {
    self.init(name, summary, .frame, .frame(body))
  }

  /// Creates a filter that analyses frames and does not change them.
  public init(_ name: String, _ summary: String, analysis: some FrameAnalysis) {
    self.init(name, summary, .frame, .analysis(analysis), category: .analysis)
  }

  private init(
    _ name: String, _ summary: String, _ reach: FilterDescription.Reach, _ node: FilterNode,
    category: FilterDescription.Category = .custom
  ) {
    self.description = FilterDescription(
      name: name, summary: summary, category: category, reach: reach, fidelity: .custom,
      formula: "A custom filter of this server")
    self.node = node
  }

  /// The filter's single node.
  public func nodes(for geometry: FrameGeometry) -> [FilterNode] { [self.node] }
}
