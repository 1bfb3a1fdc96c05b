import SidelightKernels

extension KernelCompiler {
  /// Compiles a call of a function.
  mutating func call(
    _ name: String, _ arguments: [KernelExpression], at offset: Int
  ) throws(KernelTextError) -> Value {
    if name == "sample" || name == "sampleAt" {
      return try self.sample(arguments, isAbsolute: name == "sampleAt", at: offset)
    }
    var values: [Value] = []
    for argument in arguments { values.append(try self.value(of: argument)) }
    if let index = self.callable.firstIndex(where: { $0.name == name }) {
      return try self.inline(
        self.callable[index], before: self.callable[..<index], values, arguments, at: offset)
    }
    guard KernelNames.functions.contains(name) else {
      return try self.callLibrary(name, values, arguments, at: offset)
    }
    for (value, argument) in zip(values, arguments) where !value.type.isNumeric {
      throw self.error("\(name) takes numbers, not a bool", at: argument.offset)
    }
    switch name {
    case "float", "vec2", "vec3", "vec4":
      return try self.construct(name, values, at: offset)
    case "hash":
      return try self.hash(values, at: offset)
    case "dot", "length", "distance", "normalize", "cross", "luma":
      return try self.geometric(name, values, at: offset)
    default:
      return try self.componentwise(name, values, at: offset)
    }
  }

  /// Compiles a call of a function of the library. Errors point at the call.
  private mutating func callLibrary(
    _ name: String, _ values: [Value], _ arguments: [KernelExpression], at offset: Int
  ) throws(KernelTextError) -> Value {
    let functions = KernelLibrary.functions
    guard let index = functions.firstIndex(where: { $0.name == name }) else {
      if self.syntax.functions.contains(where: { $0.name == name }) {
        throw self.error(
          "'\(name)' is declared later; a function calls functions that come before it", at: offset)
      }
      let names = KernelNames.allFunctions + self.callable.map(\.name)
      throw self.error(
        "there is no function named '\(name.clipped(toBytes: 40))'", at: offset,
        suggestion: KernelNames.nearest(to: name, among: names), value: name)
    }
    let outer = self.libraryCall
    self.libraryCall = outer ?? offset
    let result = try self.inline(
      functions[index], before: functions[..<index], values, arguments, at: offset)
    self.libraryCall = outer
    return result
  }

  /// Compiles a random number of 0 ..< 1 for one to four numbers.
  private mutating func hash(
    _ values: [Value], at offset: Int
  ) throws(KernelTextError) -> Value {
    let nodes = values.flatMap(\.nodes)
    guard (1 ... 4).contains(nodes.count) else {
      throw self.error(
        "hash takes 1 to 4 numbers, not \(nodes.count)", at: offset, value: "\(nodes.count)",
        limit: "1 to 4")
    }
    var result = nodes.count > 1 ? nodes[0] : self.graph.constant(0)
    for node in nodes.dropFirst(nodes.count > 1 ? 1 : 0) {
      result = self.graph.apply(.hash, result, node)
    }
    return Value(type: .number, nodes: [result])
  }

  func check(
    _ values: [Value], _ counts: ClosedRange<Int>, _ name: String, at offset: Int
  ) throws(KernelTextError) {
    guard counts.contains(values.count) else {
      let expected =
        counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
      throw self.error(
        "\(name) takes \(expected) argument\(counts.upperBound == 1 ? "" : "s"), not "
          + "\(values.count)",
        at: offset, value: "\(values.count)", limit: expected)
    }
  }

  private func construct(
    _ name: String, _ values: [Value], at offset: Int
  ) throws(KernelTextError) -> Value {
    try self.check(values, 1 ... 4, name, at: offset)
    let type: KernelType =
      switch name {
      case "float": .number
      case "vec2": .vector(2)
      case "vec3": .vector(3)
      default: .vector(4)
      }
    let nodes = values.flatMap(\.nodes)
    if nodes.count == 1 {
      return Value(type: type, nodes: Array(repeating: nodes[0], count: type.count))
    }
    guard nodes.count == type.count else {
      throw self.error(
        "\(name) takes \(type.count) number\(type.count == 1 ? "" : "s") in all, or one, not "
          + "\(nodes.count)",
        at: offset, value: "\(nodes.count)", limit: "\(type.count)")
    }
    return Value(type: type, nodes: nodes)
  }

  // MARK: Functions of components

  private mutating func componentwise(
    _ name: String, _ given: [Value], at offset: Int
  ) throws(KernelTextError) -> Value {
    let count: ClosedRange<Int> =
      KernelNames.unary.contains(name)
      ? 1 ... 1 : name == "atan" ? 1 ... 2 : KernelNames.binary.contains(name) ? 2 ... 2 : 3 ... 3
    try self.check(given, count, name, at: offset)
    let values = try self.broadcast(given, of: name, at: offset)
    let nodes = values[0].nodes.indices.map { index in
      self.component(name, values.map { $0.nodes[index] })
    }
    return Value(type: values[0].type, nodes: nodes)
  }

  private mutating func component(
    _ name: String, _ x: [KernelGraph.Index]
  ) -> KernelGraph.Index {
    func number(_ value: Double) -> KernelGraph.Index { self.graph.constant(value) }
    switch name {
    case "abs": return self.graph.apply(.abs, x[0])
    case "sign": return self.graph.apply(.sign, x[0])
    case "floor": return self.graph.apply(.floor, x[0])
    case "ceil":
      return self.graph.apply(.negate, self.graph.apply(.floor, self.graph.apply(.negate, x[0])))
    case "round": return self.graph.apply(.floor, self.graph.apply(.add, x[0], number(0.5)))
    case "fract": return self.graph.apply(.fract, x[0])
    case "sqrt": return self.graph.apply(.sqrt, x[0])
    case "inversesqrt":
      return self.graph.apply(.divide, number(1), self.graph.apply(.sqrt, x[0]))
    case "exp": return self.graph.apply(.exp2, self.scaled(x[0], 1.4426950408889634))
    case "exp2": return self.graph.apply(.exp2, x[0])
    case "log": return self.scaled(self.graph.apply(.log2, x[0]), 0.6931471805599453)
    case "log2": return self.graph.apply(.log2, x[0])
    case "sin": return self.graph.apply(.sin, x[0])
    case "cos": return self.graph.apply(.cos, x[0])
    case "tan":
      return self.graph.apply(
        .divide, self.graph.apply(.sin, x[0]), self.graph.apply(.cos, x[0]))
    case "radians": return self.scaled(x[0], .pi / 180)
    case "degrees": return self.scaled(x[0], 180 / .pi)
    case "saturate": return self.graph.apply(.clamp, x[0], number(0), number(1))
    case "atan": return self.graph.apply(.atan2, x[0], x.count == 2 ? x[1] : number(1))
    case "min": return self.graph.apply(.min, x[0], x[1])
    case "max": return self.graph.apply(.max, x[0], x[1])
    case "mod": return self.graph.apply(.mod, x[0], x[1])
    case "pow": return self.graph.apply(.pow, x[0], x[1])
    case "step": return self.graph.apply(.step, x[0], x[1])
    case "clamp": return self.graph.apply(.clamp, x[0], x[1], x[2])
    case "mix": return self.graph.apply(.mix, x[0], x[1], x[2])
    default:  // smoothstep
      let slope = self.graph.apply(.divide, number(1), self.graph.apply(.subtract, x[1], x[0]))
      return self.graph.apply(.smooth, x[2], x[0], slope)
    }
  }

  private mutating func scaled(_ x: KernelGraph.Index, _ factor: Double) -> KernelGraph.Index {
    self.graph.apply(.multiply, x, self.graph.constant(factor))
  }

  // MARK: Functions of vectors

  private mutating func geometric(
    _ name: String, _ values: [Value], at offset: Int
  ) throws(KernelTextError) -> Value {
    let isPair = ["dot", "distance", "cross"].contains(name)
    try self.check(values, isPair ? 2 ... 2 : 1 ... 1, name, at: offset)
    let types = values.map(\.type)
    let fits =
      switch name {
      case "luma": types[0].count >= 3
      case "cross": types == [.vector(3), .vector(3)]
      default: types.allSatisfy { $0 == types[0] }
      }
    guard fits else {
      let expected =
        name == "luma" ? "a vec3 or a vec4" : name == "cross" ? "two of vec3" : "two of equal types"
      throw self.error(
        "\(name) takes \(expected), not \(types.map { "a \($0)" }.joined(separator: " and "))",
        at: offset)
    }
    func number(_ node: KernelGraph.Index) -> Value { Value(type: .number, nodes: [node]) }
    switch name {
    case "luma":
      let weights = [ColorMatrix.luma.x, ColorMatrix.luma.y, ColorMatrix.luma.z]
      return number(
        self.dot(Array(values[0].nodes.prefix(3)), weights.map { self.graph.constant($0) }))
    case "dot":
      return number(self.dot(values[0].nodes, values[1].nodes))
    case "length":
      return number(self.length(values[0].nodes))
    case "distance":
      return number(self.length(self.map(.subtract, values[0], values[1]).nodes))
    case "normalize":
      let inverse = self.graph.apply(
        .divide, self.graph.constant(1), self.length(values[0].nodes))
      let nodes = values[0].nodes.map { self.graph.apply(.multiply, $0, inverse) }
      return Value(type: values[0].type, nodes: nodes)
    default:  // cross
      let (a, b) = (values[0].nodes, values[1].nodes)
      let nodes = [(1, 2), (2, 0), (0, 1)].map { i, j in
        self.graph.apply(
          .subtract, self.graph.apply(.multiply, a[i], b[j]),
          self.graph.apply(.multiply, a[j], b[i]))
      }
      return Value(type: .vector(3), nodes: nodes)
    }
  }

  private mutating func dot(
    _ a: [KernelGraph.Index], _ b: [KernelGraph.Index]
  ) -> KernelGraph.Index {
    let products = zip(a, b).map { self.graph.apply(.multiply, $0, $1) }
    return products.dropFirst().reduce(products[0]) { self.graph.apply(.add, $0, $1) }
  }

  private mutating func length(_ a: [KernelGraph.Index]) -> KernelGraph.Index {
    a.count == 1 ? self.graph.apply(.abs, a[0]) : self.graph.apply(.sqrt, self.dot(a, a))
  }
}
