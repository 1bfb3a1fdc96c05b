/// The distance to which the steps of a pipeline so far may have spread the frame's contents.
///
/// Filters that hide a part of the frame find it in the frame as it arrives, and cover it after
/// earlier steps. A step that takes content equally from opposite sides of a pixel spreads it by a
/// known distance. Other steps, such as a shift or a rotation, may move it out of its cover.
package struct ContentSpread: Sendable {
  /// The distance in pixels; `nil` if content may have moved to one side, or from any distance.
  package private(set) var distance: Double? = 0
  /// The margin around the frame that a later step removes.
  private var margin: MarginOperation?

  package init() {}

  /// The distance that the rounding of lengths adds, and the chroma that 2x2 pixels share.
  static let rounding = 2.0

  /// Returns the distance that a Gaussian blur adds: pixels beyond have a weight of 0
  /// (``SymmetricWeights/reach(gain:)``).
  package static func gaussian(sigma: Double) -> Double { 4.5 * sigma + Self.rounding }

  /// Adds a step.
  ///
  /// - Parameter distance: The distance that it adds; `nil` if it may move content.
  mutating func add(_ distance: Double?) {
    guard let sum = self.distance, let distance else { return self.distance = nil }
    self.distance = sum + distance
  }

  /// Adds an operation on neighbourhoods of pictures of a geometry.
  mutating func add(_ operation: any NeighborhoodOperation, in geometry: FrameGeometry) {
    if let margin = operation as? MarginOperation, self.margin == nil {
      self.margin = margin
    } else if let crop = operation as? ResampleOperation, let margin, crop.removes(margin) {
      self.margin = nil
    } else {
      self.add(operation.spread(in: geometry))
    }
  }

  /// Adds a custom function of neighbourhoods.
  mutating func add(_ kernel: any NeighborhoodKernel) {
    let isAlike = kernel is any SymmetricKernel || kernel.reach == 0
    self.add(isAlike ? Double(kernel.reach) + Self.rounding : nil)
  }

  /// Adds a node of a filter, for frames of a geometry.
  package mutating func add(_ node: FilterNode, in geometry: FrameGeometry) {
    switch node.kind {
    case .matrix, .field, .kernel, .source, .drawing, .analysis: break
    case .neighborhood(let operation): self.add(operation, in: geometry)
    case .window(let kernel): self.add(kernel)
    case .frame: self.add(nil)
    case .scene(let operation): self.add(operation.spread(in: geometry))
    case .mixed(let nodes, _): for node in nodes { self.add(node, in: geometry) }
    }
  }
}

extension ResampleOperation {
  /// Whether the operation is the crop that removes a margin.
  fileprivate func removes(_ margin: MarginOperation) -> Bool {
    self.origin == (Double(margin.left), Double(margin.top))
      && self.extent == (Double(self.size.width), Double(self.size.height))
  }
}
