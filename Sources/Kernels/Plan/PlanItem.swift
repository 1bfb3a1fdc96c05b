/// A pipeline between its stages and its passes: nodes with the filters that they come from.
indirect enum PlanItem {
  case node(Node, filter: String)
  /// From the other working space into this one.
  case convert(to: WorkingSpace)
  /// Items whose result is mixed with their input, within a rectangle.
  case group([PlanItem], amount: Double, rect: PixelRect?)

  /// What stands for a filter's name where colour changes its space.
  static let conversionName = "workingSpace"

  /// The item as a pointwise operation, and its filters; `nil` if it needs more than the pixel.
  var pointwise: (operation: PointOperation, filters: [String])? {
    switch self {
    case .node(let node, let filter):
      switch node.kind {
      case .matrix(let matrix): return (.matrix(matrix), [filter])
      case .field(let field): return (.field(field), [filter])
      case .kernel(let kernel): return (.kernel(kernel), [filter])
      case .neighborhood, .window, .frame, .analysis, .source: return nil
      case .mixed(let nodes, let amount):
        let items = nodes.map { PlanItem.node($0, filter: filter) }
        return PlanItem.group(items, amount: amount, rect: nil).pointwise
      }
    case .convert(let space): return (.transfer(to: space), [Self.conversionName])
    case .group(let items, let amount, let rect):
      var operations: [PointOperation] = []
      var filters: [String] = []
      for item in items {
        guard let inner = item.pointwise else { return nil }
        PointOperation.append(inner.operation, to: &operations)
        filters += inner.filters
      }
      if operations.isEmpty { return (.matrix(.identity), []) }
      // A mix of one matrix is a matrix.
      if rect == nil, operations.count == 1, case .matrix(let matrix) = operations[0] {
        return (.matrix(matrix.mixed(amount)), filters)
      }
      return (.group(operations, amount: amount, rect: rect), filters)
    }
  }
}
