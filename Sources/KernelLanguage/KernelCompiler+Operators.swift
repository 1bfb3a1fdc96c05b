import SidelightKernels

extension KernelCompiler {
  /// Compiles `-` or `!` before a value.
  mutating func unary(
    _ symbol: String, _ value: Value, at offset: Int
  ) throws(KernelTextError) -> Value {
    guard symbol == "-" ? value.type.isNumeric : value.type == .flag else {
      throw self.error(
        "'\(symbol)' takes \(symbol == "-" ? "numbers" : "a bool"), not a \(value.type)",
        at: offset)
    }
    if symbol == "-" { return self.map(.negate, value) }
    return Value(
      type: .flag,
      nodes: [self.graph.apply(.subtract, self.graph.constant(1), value.nodes[0])])
  }

  /// Compiles an operator between two values.
  mutating func binary(
    _ symbol: String, _ left: Value, _ right: Value, at offset: Int
  ) throws(KernelTextError) -> Value {
    switch symbol {
    case "&&", "||":
      guard left.type == .flag, right.type == .flag else {
        throw self.error(
          "'\(symbol)' takes two bools, not a \(left.type) and a \(right.type)", at: offset)
      }
      return Value(
        type: .flag,
        nodes: [
          self.graph.apply(symbol == "&&" ? .multiply : .max, left.nodes[0], right.nodes[0])
        ])
    case "<", "<=", ">", ">=", "==", "!=":
      guard left.type == .number, right.type == .number else {
        throw self.error(
          "'\(symbol)' compares two floats, not a \(left.type) and a \(right.type)", at: offset)
      }
      let (a, b) = symbol.hasPrefix(">") ? (right, left) : (left, right)
      let operation: KernelOperation =
        symbol == "<" || symbol == ">"
        ? .less : symbol == "==" || symbol == "!=" ? .equal : .lessOrEqual
      var node = self.graph.apply(operation, a.nodes[0], b.nodes[0])
      if symbol == "!=" {
        node = self.graph.apply(.subtract, self.graph.constant(1), node)
      }
      return Value(type: .flag, nodes: [node])
    default:
      let operation: KernelOperation =
        switch symbol {
        case "+": .add
        case "-": .subtract
        case "*": .multiply
        case "/": .divide
        default: .mod
        }
      let values = try self.broadcast([left, right], of: "'\(symbol)'", at: offset)
      return self.map(operation, values[0], values[1])
    }
  }

  /// Compiles `condition ? first : second`: both values are computed.
  mutating func choice(
    _ condition: KernelExpression, _ first: KernelExpression, _ second: KernelExpression,
    at offset: Int
  ) throws(KernelTextError) -> Value {
    let test = try self.value(of: condition)
    guard test.type == .flag else {
      throw self.error("the condition before '?' is a \(test.type), not a bool", at: offset)
    }
    var values = [try self.value(of: first), try self.value(of: second)]
    if values[0].type != values[1].type {
      values = try self.broadcast(values, of: "'? :'", at: offset)
    }
    try self.spend(values[0].nodes.count, at: offset)
    let nodes = zip(values[0].nodes, values[1].nodes).map { a, b in
      self.graph.apply(.select, test.nodes[0], a, b)
    }
    return Value(type: values[0].type, nodes: nodes)
  }

  /// Compiles a selection of components, as in `color.rgb`.
  func components(
    _ names: String, of value: Value, at offset: Int
  ) throws(KernelTextError) -> Value {
    guard case .vector(let count) = value.type else {
      throw self.error("a \(value.type) has no components", at: offset)
    }
    for letters in ["rgba", "xyzw"] {
      let allowed = Array(letters.prefix(count))
      let indices = names.compactMap { allowed.firstIndex(of: $0) }
      if indices.count == names.count, names.count <= 4 {
        return Value(type: KernelType(count: indices.count), nodes: indices.map { value.nodes[$0] })
      }
    }
    let limit = "one to four of \("rgba".prefix(count)) or of \("xyzw".prefix(count))"
    throw self.error(
      "'\(names.clipped(toBytes: 40))' are not components of a \(value.type): \(limit)",
      at: offset, value: names, limit: limit)
  }

  /// Compiles an array, as in `[1, 2, 1]`.
  mutating func array(
    _ elements: [KernelExpression], at offset: Int
  ) throws(KernelTextError) -> Value {
    var values: [Value] = []
    for element in elements {
      let value = try self.value(of: element)
      guard values.isEmpty || value.type == values[0].type, value.type.isNumeric else {
        throw self.error(
          "an array has numbers or vectors of one type, not a \(value.type)", at: element.offset)
      }
      values.append(value)
    }
    guard let first = values.first else {
      throw self.error("an array has at least one element", at: offset)
    }
    return Value(type: .array(first.type, values.count), nodes: values.flatMap(\.nodes))
  }

  /// Compiles an element of an array or a vector, as in `weights[i]`.
  func element(of value: Value, _ index: Value, at offset: Int) throws(KernelTextError) -> Value {
    let (type, count): (KernelType, Int)
    switch value.type {
    case .array(let element, let number): (type, count) = (element, number)
    case .vector(let number): (type, count) = (.number, number)
    case .number, .flag: throw self.error("a \(value.type) has no elements", at: offset)
    }
    guard index.type == .number, let number = self.graph.constantValue(index.nodes[0]) else {
      throw self.error("an index is a constant number, such as the name of a loop", at: offset)
    }
    guard number == number.rounded(), (0 ..< Double(count)).contains(number) else {
      throw self.error(
        "the index is \(number); it must be a whole number of 0 ..< \(count)", at: offset,
        value: "\(number)", limit: "0 ..< \(count)")
    }
    let start = Int(number) * type.count
    return Value(type: type, nodes: Array(value.nodes[start ..< start + type.count]))
  }

  /// Applies an operation to all components.
  mutating func map(_ operation: KernelOperation, _ a: Value) -> Value {
    Value(type: a.type, nodes: a.nodes.map { self.graph.apply(operation, $0) })
  }

  /// Applies an operation to all pairs of components.
  mutating func map(_ operation: KernelOperation, _ a: Value, _ b: Value) -> Value {
    Value(
      type: a.type,
      nodes: zip(a.nodes, b.nodes).map { self.graph.apply(operation, $0, $1) })
  }

  /// Returns values with as many components as the longest: single numbers are repeated.
  func broadcast(
    _ values: [Value], of name: String, at offset: Int
  ) throws(KernelTextError) -> [Value] {
    let count = values.map(\.type.count).max() ?? 1
    let fits = values.allSatisfy { $0.type.isNumeric && [1, count].contains($0.type.count) }
    guard fits else {
      let types = values.map { "a \($0.type)" }.joined(separator: " and ")
      let hint =
        values.contains { $0.type == .vector(4) } && values.contains { $0.type == .vector(3) }
        ? "; select components, as in color.rgb" : ""
      throw self.error("\(name) does not take \(types)\(hint)", at: offset)
    }
    return values.map { value in
      guard value.type == .number, count > 1 else { return value }
      return Value(
        type: .vector(count), nodes: Array(repeating: value.nodes[0], count: count))
    }
  }
}
