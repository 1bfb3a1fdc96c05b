/// A pipeline between its stages and its passes: nodes with the filters that they come from.
indirect enum PlanItem {
  case node(Node, filter: String)
  /// Items whose result is mixed with their input, within a rectangle.
  case group([PlanItem], amount: Double, rect: PixelRect?)

  /// The item as a pointwise operation, and its filters; `nil` if it needs more than the pixel.
  var pointwise: (operation: PointOperation, filters: [String])? {
    switch self {
    case .node(let node, let filter):
      switch node.kind {
      case .matrix(let matrix): return (.matrix(matrix), [filter])
      case .field(let field): return (.field(field), [filter])
      case .kernel(let kernel): return (.kernel(kernel), [filter])
      case .neighborhood, .window, .frame, .analysis: return nil
      case .mixed(let nodes, let amount):
        let items = nodes.map { PlanItem.node($0, filter: filter) }
        return PlanItem.group(items, amount: amount, rect: nil).pointwise
      }
    case .group(let items, let amount, let rect):
      var operations: [PointOperation] = []
      var filters: [String] = []
      for item in items {
        guard let inner = item.pointwise else { return nil }
        PointOperation.append(inner.operation, to: &operations)
        filters += inner.filters
      }
      // A mix of one matrix is a matrix.
      if rect == nil, operations.count == 1, case .matrix(let matrix) = operations[0] {
        return (.matrix(matrix.mixed(amount)), filters)
      }
      return (.group(operations, amount: amount, rect: rect), filters)
    }
  }
}
