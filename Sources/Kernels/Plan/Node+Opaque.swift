extension Node {
  /// What the node does to an opaque picture, whose alpha is 1 and stays: before matrices fold, or
  /// one would see the alpha that another made.
  var keepingOpaque: Node {
    switch self.kind {
    case .matrix(let matrix): .matrix(matrix.opaque)
    case .mixed(let nodes, let amount): .mixed(nodes.map(\.keepingOpaque), amount: amount)
    case .field, .kernel, .source, .neighborhood, .window, .frame, .analysis: self
    }
  }
}
