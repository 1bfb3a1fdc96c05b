import SidelightKernels

extension KernelCompiler {
  /// Compiles a call of a function.
  mutating func call(
    _ name: String, _ arguments: [KernelExpression], at offset: Int
  ) throws(KernelTextError) -> Value {
    guard KernelNames.functions.contains(name) else {
      throw self.error(
        "there is no function named '\(name.clipped(toBytes: 40))'", at: offset,
        suggestion: KernelNames.nearest(to: name, among: KernelNames.functions), value: name)
    }
    var values: [Value] = []
    for argument in arguments { values.append(try self.value(of: argument)) }
    for (value, argument) in zip(values, arguments) where !value.type.isNumeric {
      throw self.error("\(name) takes numbers, not a bool", at: argument.offset)
    }
    switch name {
    case "float", "vec2", "vec3", "vec4":
      return try self.construct(name, values, at: offset)
    case "sample":
      return try self.sample(values, arguments, at: offset)
    case "dot", "length", "distance", "normalize", "cross", "luma":
      return try self.geometric(name, values, at: offset)
    case "premultiply", "unpremultiply", "blend":
      return try self.compositing(name, values, at: offset)
    default:
      return try self.componentwise(name, values, at: offset)
    }
  }

  private func check(
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

  // MARK: Compositing

  private mutating func compositing(
    _ name: String, _ values: [Value], at offset: Int
  ) throws(KernelTextError) -> Value {
    let types = name == "blend" ? [4, 4, 3] : [4]
    try self.check(values, types.count ... types.count, name, at: offset)
    guard values.map(\.type) == types.map({ .vector($0) }) else {
      let expected = types.map { "vec\($0)" }.joined(separator: ", ")
      throw self.error(
        "\(name) takes (\(expected)), not (\(values.map { "\($0.type)" }.joined(separator: ", ")))",
        at: offset)
    }
    let nodes =
      switch name {
      case "premultiply": self.premultiplied(values[0].nodes)
      case "unpremultiply": self.unpremultiplied(values[0].nodes)
      default: self.blended(values[0].nodes, values[1].nodes, values[2].nodes)
      }
    return Value(type: .vector(4), nodes: nodes)
  }

  private mutating func premultiplied(_ channels: [KernelGraph.Index]) -> [KernelGraph.Index] {
    channels.prefix(3).map { self.graph.apply(.multiply, $0, channels[3]) } + [channels[3]]
  }

  /// Returns the straight colour of a source over a background, where both are replaced by `mixed`
  /// where both are opaque (W3C Compositing and Blending).
  private mutating func blended(
    _ source: [KernelGraph.Index], _ background: [KernelGraph.Index], _ mixed: [KernelGraph.Index]
  ) -> [KernelGraph.Index] {
    let one = self.graph.constant(1)
    let both = self.graph.apply(.multiply, source[3], background[3])
    // The shares of the source and of the background alone.
    let alone = [
      self.graph.apply(.multiply, source[3], self.graph.apply(.subtract, one, background[3])),
      self.graph.apply(.multiply, background[3], self.graph.apply(.subtract, one, source[3])),
    ]
    var channels = (0 ..< 3).map { channel in
      let parts = [(alone[0], source), (alone[1], background), (both, mixed)].map { share, color in
        self.graph.apply(.multiply, share, color[channel])
      }
      return self.graph.apply(.add, self.graph.apply(.add, parts[0], parts[1]), parts[2])
    }
    channels.append(
      self.graph.apply(.add, self.graph.apply(.add, alone[0], alone[1]), both))
    return self.unpremultiplied(channels)
  }

  // MARK: Neighbours

  private mutating func sample(
    _ values: [Value], _ arguments: [KernelExpression], at offset: Int
  ) throws(KernelTextError) -> Value {
    let nodes = values.flatMap(\.nodes)
    guard nodes.count == 2 else {
      throw self.error(
        "sample takes two numbers, the offset to the right and down in pixels", at: offset)
    }
    for (value, argument) in zip(values, arguments) {
      for node in value.nodes {
        guard self.graph.variability[node] <= .plan else {
          throw self.error(
            "an offset of sample may depend on parameters and on size, but not on the pixel or "
              + "the time",
            at: argument.offset)
        }
        // A number of the text, and not one that a parameter leads to.
        if self.setting.parameters == nil, let number = self.graph.constantValue(node) {
          let limit = Double(KernelText.maxReach)
          guard (-limit ... limit).contains(number) else {
            throw self.error(
              "an offset of sample is \(number), outside \(-KernelText.maxReach) ... "
                + "\(KernelText.maxReach)",
              at: argument.offset, value: "\(number)",
              limit: "\(-KernelText.maxReach) ... \(KernelText.maxReach)")
          }
        }
      }
    }
    return self.pixel(at: nodes[0], nodes[1])
  }

  /// Returns the straight colour at an offset. Between pixels it is interpolated.
  mutating func pixel(at x: KernelGraph.Index, _ y: KernelGraph.Index) -> Value {
    guard self.isNeighborhood else {
      let alpha = self.setting.isOpaque ? self.graph.constant(1) : self.graph.input(.channel(3))
      let color = (0 ..< 3).map { self.graph.input(.channel($0)) }
      return Value(type: .vector(4), nodes: color + [alpha])
    }
    let (left, right) = self.taps(x)
    let (upper, lower) = self.taps(y)
    let channels = (0 ..< (self.setting.isOpaque ? 3 : 4)).map { channel in
      func row(_ y: Int) -> KernelGraph.Index {
        let first = self.graph.input(.sample(x: left, y: y, channel: channel))
        guard let right else { return first }
        return self.graph.apply(
          .mix, first, self.graph.input(.sample(x: right.position, y: y, channel: channel)),
          right.weight)
      }
      guard let lower else { return row(upper) }
      return self.graph.apply(.mix, row(upper), row(lower.position), lower.weight)
    }
    guard !self.setting.isOpaque else {
      return Value(type: .vector(4), nodes: channels + [self.graph.constant(1)])
    }
    return Value(type: .vector(4), nodes: self.unpremultiplied(channels))
  }

  /// Returns straight colour.
  mutating func unpremultiplied(_ channels: [KernelGraph.Index]) -> [KernelGraph.Index] {
    let zero = self.graph.constant(0)
    let inverse = self.graph.apply(
      .select, self.graph.apply(.less, zero, channels[3]),
      self.graph.apply(.divide, self.graph.constant(1), channels[3]), zero)
    return channels.prefix(3).map { self.graph.apply(.multiply, $0, inverse) } + [channels[3]]
  }

  /// The positions that are read for an offset along an axis, and the weight of the second.
  private typealias Taps = (
    first: Int, second: (position: Int, weight: KernelGraph.Index)?
  )

  private mutating func taps(_ offset: KernelGraph.Index) -> Taps {
    let reach = Double(KernelText.maxReach)
    guard let number = self.graph.constantValue(offset) else {
      // Positions beyond the reach replace unknown ones, a different position per offset.
      let number = self.unknownOffsets[[offset], default: self.unknownOffsets.count]
      self.unknownOffsets[[offset]] = number
      let first = KernelText.maxReach + 1 + 2 * number
      return (first, (first + 1, self.graph.apply(.fract, offset)))
    }
    let limited = number.isNaN ? 0 : min(max(number, -reach), reach)
    // Offsets of less than 1/256 pixel are not seen.
    let rounded = (limited * 256).rounded() / 256
    let first = rounded.rounded(.down)
    guard rounded > first else { return (Int(first), nil) }
    return (Int(first), (Int(first) + 1, self.graph.constant(rounded - first)))
  }
}
