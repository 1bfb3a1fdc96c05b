import CKernels
import SidelightKernels

/// A compiler of kernels to graphs. It checks types, and reports every error at its character.
struct KernelCompiler {
  /// A typed value: a node per component.
  struct Value {
    var type: KernelType
    var nodes: [KernelGraph.Index]
  }

  /// The values that are known when a text is compiled.
  struct Setting {
    /// The components of parameters, in their order; `nil` for unknown ones.
    var parameters: [[Double]]?
    /// The size of frames; `nil` if it is unknown.
    var size: FrameSize?
    /// Whether the frames are opaque.
    var isOpaque: Bool
  }

  /// A graph, and its results.
  struct Compiled {
    var graph: KernelGraph
    /// Red, green, blue and alpha: straight for kernels of one pixel, else premultiplied.
    var results: [KernelGraph.Index]
    /// Whether the kernel reads other pixels.
    var isNeighborhood: Bool
  }

  private static let maxNodes = 1 << 15

  let bytes: [UInt8]
  let setting: Setting
  var graph = KernelGraph()
  private var names: [String: Value] = [:]
  /// The number of unknown inputs so far.
  private var unknownCount = 0
  /// The unknown offsets that `sample` is given, and replacements of their positions.
  var unknownOffsets: [[KernelGraph.Index]: Int] = [:]
  let isNeighborhood: Bool

  private init(_ bytes: [UInt8], _ setting: Setting, isNeighborhood: Bool) {
    self.bytes = bytes
    self.setting = setting
    self.isNeighborhood = isNeighborhood
  }

  /// Checks a text for all values of its parameters.
  ///
  /// - Returns: The greatest cost of a pixel, in nanoseconds.
  static func check(
    _ syntax: KernelText.Syntax, _ bytes: [UInt8]
  ) throws(KernelTextError) -> Double {
    let compiled = try Self.compile(
      syntax, bytes, Setting(parameters: nil, size: nil, isOpaque: false))
    let program = KernelProgram(compiled)
    // Values of parameters are further constants.
    guard program.fits, program.slotCount + 4 * KernelText.maxParameters <= Int(SL_KERNEL_SLOTS)
    else {
      throw KernelTextError(
        "the kernel has too many values at the same time; the limits are \(SL_KERNEL_ROWS) rows "
          + "and \(SL_KERNEL_SLOTS) values in all",
        in: bytes, at: syntax.resultOffset, limit: "\(SL_KERNEL_ROWS)")
    }
    let limit = KernelText.maxNanosecondsPerPixel
    guard program.nanosecondsPerPixel <= limit else {
      throw KernelTextError(
        "the kernel takes about \(Int(program.nanosecondsPerPixel.rounded(.up))) ns per pixel; "
          + "the limit is \(Int(limit))",
        in: bytes, at: syntax.resultOffset,
        value: "\(Int(program.nanosecondsPerPixel.rounded(.up)))", limit: "\(Int(limit))")
    }
    return program.nanosecondsPerPixel
  }

  /// Compiles a kernel.
  static func compile(
    _ syntax: KernelText.Syntax, _ bytes: [UInt8], _ setting: Setting
  ) throws(KernelTextError) -> Compiled {
    var compiler = KernelCompiler(bytes, setting, isNeighborhood: syntax.isNeighborhood)
    return try compiler.compile(syntax)
  }

  private mutating func compile(
    _ syntax: KernelText.Syntax
  ) throws(KernelTextError) -> Compiled {
    let color = self.pixel(at: self.graph.constant(0), self.graph.constant(0))
    self.addNames(color: color)
    var imageCount = 0
    for (index, parameter) in syntax.parameters.enumerated() {
      guard !parameter.defaultValue.isImage else {
        guard !self.isNeighborhood else {
          throw self.error("a kernel that calls sample cannot have images", at: 0)
        }
        let channels = (0 ..< 4).map { self.graph.input(.image(imageCount, channel: $0)) }
        self.names[parameter.alias ?? parameter.name] = Value(
          type: .vector(4), nodes: self.unpremultiplied(channels))
        imageCount += 1
        continue
      }
      let nodes =
        self.setting.parameters.map { values in
          values[index].map { self.graph.constant($0) }
        } ?? (0 ..< parameter.type.count).map { _ in self.unknown() }
      self.names[parameter.alias ?? parameter.name] = Value(type: parameter.type, nodes: nodes)
    }
    for binding in syntax.bindings {
      let value = try self.value(of: binding.value)
      self.names[binding.name] = value
    }
    let result = try self.value(of: syntax.result)
    var channels: [KernelGraph.Index]
    switch result.type {
    case .number: channels = [result.nodes[0], result.nodes[0], result.nodes[0], color.nodes[3]]
    case .vector(3): channels = result.nodes + [color.nodes[3]]
    case .vector(4): channels = result.nodes
    case .vector, .flag:
      throw self.error(
        "the result is a \(result.type); it must be a vec4, a vec3 (alpha does not change) or a "
          + "float (a grey)",
        at: syntax.result.offset)
    }
    // Over black, where alpha cannot be kept.
    if self.setting.isOpaque, result.type == .vector(4) {
      let alpha = self.graph.apply(
        .clamp, channels[3], self.graph.constant(0), self.graph.constant(1))
      for channel in 0 ..< 3 {
        channels[channel] = self.graph.apply(.multiply, channels[channel], alpha)
      }
    }
    self.finish(&channels, alpha: color.nodes[3])
    return Compiled(
      graph: self.graph, results: channels, isNeighborhood: self.isNeighborhood)
  }

  /// Limits results: NaN and infinity become numbers, alpha is within 0 ... 1, and colour is
  /// premultiplied where it was.
  private mutating func finish(_ channels: inout [KernelGraph.Index], alpha: KernelGraph.Index) {
    for channel in 0 ..< 4 where !self.graph.magnitudes[channels[channel]].isFinite {
      channels[channel] = self.graph.apply(.finite, channels[channel])
    }
    guard !self.setting.isOpaque else {
      channels[3] = self.graph.input(
        self.isNeighborhood ? .sample(x: 0, y: 0, channel: 3) : .channel(3))
      return
    }
    if channels[3] != alpha {
      channels[3] = self.graph.apply(
        .clamp, channels[3], self.graph.constant(0), self.graph.constant(1))
    }
    guard self.isNeighborhood else { return }
    for channel in 0 ..< 3 {
      channels[channel] = self.graph.apply(.multiply, channels[channel], channels[3])
    }
  }

  private mutating func addNames(color: Value) {
    let position = [
      self.graph.apply(.add, self.graph.input(.column), self.graph.input(.start)),
      self.graph.input(.row),
    ]
    let size =
      self.setting.size.map {
        [self.graph.constant(Double($0.width)), self.graph.constant(Double($0.height))]
      } ?? [self.unknown(), self.unknown()]
    let uv = (0 ..< 2).map { self.graph.apply(.divide, position[$0], size[$0]) }
    self.names = [
      "color": color,
      "position": Value(type: .vector(2), nodes: position),
      "size": Value(type: .vector(2), nodes: size),
      "uv": Value(type: .vector(2), nodes: uv),
      "time": Value(type: .number, nodes: [self.graph.input(.time)]),
      "frame": Value(type: .number, nodes: [self.graph.input(.frame)]),
      "pi": Value(type: .number, nodes: [self.graph.constant(.pi)]),
      "isOpaque": Value(
        type: .flag, nodes: [self.graph.constant(self.setting.isOpaque ? 1 : 0)]),
    ]
  }

  private mutating func unknown() -> KernelGraph.Index {
    self.unknownCount += 1
    return self.graph.input(.unknown(self.unknownCount))
  }

  // MARK: Expressions

  func error(
    _ message: String, at offset: Int, suggestion: String? = nil, value: String? = nil,
    limit: String? = nil
  ) -> KernelTextError {
    KernelTextError(
      message, in: self.bytes, at: offset, suggestion: suggestion, value: value, limit: limit)
  }

  mutating func value(of expression: KernelExpression) throws(KernelTextError) -> Value {
    guard self.graph.nodes.count <= Self.maxNodes else {
      throw self.error(
        "more than \(Self.maxNodes) operations on numbers", at: expression.offset,
        limit: "\(Self.maxNodes)")
    }
    switch expression.kind {
    case .number(let number):
      return Value(type: .number, nodes: [self.graph.constant(number)])
    case .color(let channels):
      return Value(type: .vector(4), nodes: channels.map { self.graph.constant($0) })
    case .flag(let flag):
      return Value(type: .flag, nodes: [self.graph.constant(flag ? 1 : 0)])
    case .name(let name):
      guard let value = self.names[name] else {
        throw self.unknownName(name, at: expression.offset)
      }
      return value
    case .unary(let symbol, let operand):
      return try self.unary(symbol, try self.value(of: operand), at: expression.offset)
    case .binary(let symbol, let left, let right):
      let (first, second) = (try self.value(of: left), try self.value(of: right))
      return try self.binary(symbol, first, second, at: expression.offset)
    case .choice(let condition, let first, let second):
      return try self.choice(condition, first, second, at: expression.offset)
    case .call(let name, let arguments):
      return try self.call(name, arguments, at: expression.offset)
    case .components(let operand, let names, let offset):
      return try self.components(names, of: try self.value(of: operand), at: offset)
    }
  }

  private func unknownName(_ name: String, at offset: Int) -> KernelTextError {
    if KernelNames.functions.contains(name) {
      return self.error("'\(name)' is a function: write \(name)(...)", at: offset)
    }
    return self.error(
      "there is no value named '\(name.clipped(toBytes: 40))'", at: offset,
      suggestion: KernelNames.nearest(to: name, among: Array(self.names.keys)), value: name)
  }
}

extension KernelText.Syntax {
  /// Whether the kernel reads other pixels.
  var isNeighborhood: Bool {
    self.bindings.contains { $0.value.callsSample } || self.result.callsSample
  }
}

extension KernelExpression {
  /// Whether the expression calls `sample`.
  fileprivate var callsSample: Bool {
    switch self.kind {
    case .number, .color, .flag, .name: false
    case .unary(_, let part), .components(let part, _, _): part.callsSample
    case .binary(_, let left, let right): left.callsSample || right.callsSample
    case .choice(let condition, let first, let second):
      condition.callsSample || first.callsSample || second.callsSample
    case .call(let name, let arguments):
      name == "sample" || arguments.contains { $0.callsSample }
    }
  }
}
