extension KernelCompiler {
  /// Compiles statements in the current scope. Loops are unrolled, and both parts of a choice are
  /// computed unless its condition is constant.
  mutating func run(_ statements: [KernelStatement]) throws(KernelTextError) {
    for statement in statements {
      switch statement.kind {
      case .binding(let name, let value, let isVariable):
        guard self.names[name]?.isVariable != true else {
          throw self.error(
            "'\(name)' is a variable already; assign it with '='", at: statement.offset)
        }
        self.names[name] = Binding(value: try self.value(of: value), isVariable: isVariable)
      case .assignment(let name, let value):
        try self.assign(name, value, at: statement.offset)
      case .loop(let name, let turns, let body):
        guard self.names[name]?.isVariable != true else {
          throw self.error("'\(name)' is a variable; choose another name", at: statement.offset)
        }
        for turn in turns {
          let index = Value(type: .number, nodes: [self.graph.constant(Double(turn))])
          try self.runBlock(body, [name: index], at: statement.offset)
        }
      case .choice(let condition, let first, let second):
        try self.choose(condition, first, second)
      }
    }
  }

  private mutating func assign(
    _ name: String, _ expression: KernelExpression, at offset: Int
  ) throws(KernelTextError) {
    guard let binding = self.names[name] else { throw self.unknownName(name, at: offset) }
    guard binding.isVariable else {
      throw self.error(
        "'\(name)' cannot be assigned; declare it with 'var', as in var sum = 0", at: offset)
    }
    let value = try self.value(of: expression)
    guard let converted = value.converted(to: binding.value.type) else {
      throw self.error(
        "'\(name)' is a \(binding.value.type), and the value a \(value.type)",
        at: expression.offset)
    }
    self.names[name]?.value = converted
  }

  /// Compiles statements in a scope of their own. Variables of outer scopes keep their new values.
  private mutating func runBlock(
    _ statements: [KernelStatement], _ constants: [String: Value] = [:], at offset: Int
  ) throws(KernelTextError) {
    // A block without expressions takes time too, which depends on the names in scope.
    try self.spend(1 + self.names.count / 8, at: offset)
    self.depth += 1
    defer { self.depth -= 1 }
    var outer = self.names
    for (name, value) in constants { self.names[name] = Binding(value: value) }
    try self.run(statements)
    for (name, binding) in outer where binding.isVariable { outer[name] = self.names[name] }
    self.names = outer
  }

  private mutating func choose(
    _ condition: KernelExpression, _ first: [KernelStatement], _ second: [KernelStatement]
  ) throws(KernelTextError) {
    let test = try self.value(of: condition)
    guard test.type == .flag else {
      throw self.error(
        "the condition after 'if' is a \(test.type), not a bool", at: condition.offset)
    }
    if let constant = self.graph.constantValue(test.nodes[0]) {
      return try self.runBlock(constant != 0 ? first : second, at: condition.offset)
    }
    let before = self.names
    try self.runBlock(first, at: condition.offset)
    let chosen = self.names
    self.names = before
    try self.runBlock(second, at: condition.offset)
    for (name, binding) in self.names where binding.isVariable {
      guard let other = chosen[name], other.value.nodes != binding.value.nodes else { continue }
      try self.spend(binding.value.nodes.count, at: condition.offset)
      self.names[name]?.value.nodes = zip(other.value.nodes, binding.value.nodes).map { a, b in
        self.graph.apply(.select, test.nodes[0], a, b)
      }
    }
  }

  /// Compiles a call of a function of the text or of the library.
  ///
  /// - Parameter functions: The functions that it may call: those before it.
  mutating func inline(
    _ function: KernelFunction, before functions: ArraySlice<KernelFunction>, _ values: [Value],
    _ arguments: [KernelExpression], at offset: Int
  ) throws(KernelTextError) -> Value {
    try self.check(
      values, function.parameters.count ... function.parameters.count, function.name, at: offset)
    let saved = (names: self.names, callable: self.callable)
    self.names = self.globals
    for (parameter, (value, argument)) in zip(function.parameters, zip(values, arguments)) {
      guard let converted = value.converted(to: parameter.type) else {
        throw self.error(
          "'\(parameter.name)' of \(function.name) is a \(parameter.type), not a \(value.type)",
          at: argument.offset)
      }
      self.names[parameter.name] = Binding(value: converted)
    }
    self.callable = functions
    try self.run(function.body)
    let result = try self.value(of: function.value)
    self.names = saved.names
    self.callable = saved.callable
    guard let converted = result.converted(to: function.type) else {
      throw self.error(
        "\(function.name) returns a \(function.type), and the value is a \(result.type)",
        at: function.value.offset)
    }
    return converted
  }
}

extension KernelCompiler.Value {
  /// Returns the value as another type: numbers fill vectors. `nil` if it has a different type.
  func converted(to type: KernelType) -> Self? {
    if self.type == type { return self }
    guard self.type == .number, case .vector(let count) = type else { return nil }
    return Self(type: type, nodes: Array(repeating: self.nodes[0], count: count))
  }
}
