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
    var isOpaque: Bool
  }

  /// A graph, and its results.
  struct Compiled {
    var graph: KernelGraph
    /// Red, green, blue and alpha: straight for kernels of one pixel, else premultiplied.
    var results: [KernelGraph.Index]
    /// Whether the kernel reads other pixels of the picture.
    var isNeighborhood: Bool
    /// The column and the row of the pixel's centre.
    var position: [KernelGraph.Index]
  }

  /// A named value.
  struct Binding {
    var value: Value
    /// Whether assignments may change it.
    var isVariable = false
  }

  private static let maxNodes = 1 << 15
  /// The maximum number of expressions that are compiled, counting those in loops and functions
  /// once per turn and call.
  private static let maxEvaluations = 1 << 15
  /// The maximum depth of expressions, including the expressions of called functions.
  private static let maxDepth = 384

  let bytes: [UInt8]
  let setting: Setting
  let syntax: KernelText.Syntax
  var graph = KernelGraph()
  /// The names in the current scope.
  var names: [String: Binding] = [:]
  /// The names in the scope of every function: built-in names and parameters.
  private(set) var globals: [String: Binding] = [:]
  /// The functions before the one that is compiled, which it may call.
  var callable: ArraySlice<KernelFunction>
  /// The call of a function of the library, for errors within; `nil` in the text's own code.
  var libraryCall: Int?
  private var evaluationCount = 0
  /// The depth of expressions and blocks.
  var depth = 0
  /// The number of unknown inputs so far.
  private var unknownCount = 0
  /// The unknown offsets that `sample` is given, and replacements of their positions.
  var unknownOffsets: [[KernelGraph.Index]: Int] = [:]

  private init(_ syntax: KernelText.Syntax, _ bytes: [UInt8], _ setting: Setting) {
    self.syntax = syntax
    self.bytes = bytes
    self.setting = setting
    self.callable = syntax.functions[...]
  }

  var isNeighborhood: Bool { self.syntax.isNeighborhood }

  /// Checks the passes of a text for all values of its parameters.
  ///
  /// - Returns: The greatest cost of a pixel in all passes, in nanoseconds.
  static func check(
    _ passes: [KernelText.Syntax], _ bytes: [UInt8]
  ) throws(KernelTextError) -> Double {
    var total = 0.0
    for pass in passes { total += try Self.check(pass, bytes, after: total) }
    return total
  }

  private static func check(
    _ syntax: KernelText.Syntax, _ bytes: [UInt8], after total: Double
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
    let sum = total + program.nanosecondsPerPixel
    guard sum <= limit else {
      throw KernelTextError(
        "the kernel takes about \(Int(sum.rounded(.up))) ns per pixel; the limit is \(Int(limit))",
        in: bytes, at: syntax.resultOffset, value: "\(Int(sum.rounded(.up)))",
        limit: "\(Int(limit))")
    }
    return program.nanosecondsPerPixel
  }

  static func compile(
    _ syntax: KernelText.Syntax, _ bytes: [UInt8], _ setting: Setting
  ) throws(KernelTextError) -> Compiled {
    var compiler = KernelCompiler(syntax, bytes, setting)
    return try compiler.compile()
  }

  private mutating func compile() throws(KernelTextError) -> Compiled {
    self.addNames()
    for (index, parameter) in self.syntax.parameters.enumerated() {
      let nodes =
        self.setting.parameters.map { values in
          values[index].map { self.graph.constant($0) }
        } ?? (0 ..< parameter.type.count).map { _ in self.unknown(within: parameter.pixelRange) }
      self.names[parameter.alias ?? parameter.name] = Binding(
        value: Value(type: parameter.type, nodes: nodes))
    }
    self.globals = self.names
    try self.run(self.syntax.statements)
    let result = try self.value(of: self.syntax.result)
    let channels =
      self.syntax.isWarp ? try self.warp(by: result) : try self.color(of: result)
    return Compiled(
      graph: self.graph, results: channels, isNeighborhood: self.isNeighborhood,
      position: self.position)
  }

  /// The column and the row of the pixel's centre.
  var position: [KernelGraph.Index] {
    mutating get {
      [
        self.graph.apply(.add, self.graph.input(.column), self.graph.input(.start)),
        self.graph.input(.row),
      ]
    }
  }

  /// Returns the pixel at the position that a warp returns. It stays premultiplied.
  private mutating func warp(by result: Value) throws(KernelTextError) -> [KernelGraph.Index] {
    guard result.type == .vector(2) else {
      throw self.error(
        "the position to read is a \(result.type); it must be a vec2", at: self.syntax.result.offset
      )
    }
    var channels = self.graph.read(0, result.nodes[0], result.nodes[1])
    if self.setting.isOpaque { channels[3] = self.graph.input(.channel(3)) }
    return channels
  }

  /// Returns the limited channels of a result.
  private mutating func color(of result: Value) throws(KernelTextError) -> [KernelGraph.Index] {
    let alpha = self.names["color"]?.value.nodes[3] ?? self.graph.constant(1)
    var channels: [KernelGraph.Index]
    switch result.type {
    case .number: channels = [result.nodes[0], result.nodes[0], result.nodes[0], alpha]
    case .vector(3): channels = result.nodes + [alpha]
    case .vector(4): channels = result.nodes
    case .vector, .flag, .array:
      throw self.error(
        "the result is a \(result.type); it must be a vec4, a vec3 (alpha does not change) or a "
          + "float (a grey)",
        at: self.syntax.result.offset)
    }
    self.finish(&channels, alpha: alpha)
    return channels
  }

  /// Limits results: NaN and infinity become numbers, alpha is within 0 ... 1, and colour is
  /// premultiplied where it was. In opaque frames the result is composited on black.
  private mutating func finish(_ channels: inout [KernelGraph.Index], alpha: KernelGraph.Index) {
    for channel in 0 ..< 4 where !self.graph.magnitudes[channels[channel]].isFinite {
      channels[channel] = self.graph.apply(.finite, channels[channel])
    }
    if channels[3] != alpha {
      channels[3] = self.graph.apply(
        .clamp, channels[3], self.graph.constant(0), self.graph.constant(1))
    }
    guard self.isNeighborhood || self.setting.isOpaque else { return }
    for channel in 0 ..< 3 {
      channels[channel] = self.graph.apply(.multiply, channels[channel], channels[3])
    }
    if self.setting.isOpaque { channels[3] = self.graph.input(.channel(3)) }
  }

  private mutating func addNames() {
    let position = self.position
    let size =
      self.setting.size.map {
        [self.graph.constant(Double($0.width)), self.graph.constant(Double($0.height))]
      } ?? [self.unknown(), self.unknown()]
    let uv = (0 ..< 2).map { self.graph.apply(.divide, position[$0], size[$0]) }
    let values = [
      "color": self.color,
      "position": Value(type: .vector(2), nodes: position),
      "size": Value(type: .vector(2), nodes: size),
      "uv": Value(type: .vector(2), nodes: uv),
      "time": Value(type: .number, nodes: [self.graph.input(.time)]),
      "frame": Value(type: .number, nodes: [self.graph.input(.frame)]),
      "pi": Value(type: .number, nodes: [self.graph.constant(.pi)]),
      "isOpaque": Value(
        type: .flag,
        nodes: [
          self.setting.parameters == nil
            ? self.unknown() : self.graph.constant(self.setting.isOpaque ? 1 : 0)
        ]),
    ]
    self.names = values.mapValues { Binding(value: $0) }
  }

  private mutating func unknown(within range: ClosedRange<Double>? = nil) -> KernelGraph.Index {
    self.unknownCount += 1
    return self.graph.input(
      .unknown(self.unknownCount),
      magnitude: range.map { max(abs($0.lowerBound), abs($0.upperBound)) })
  }

  // MARK: Expressions

  func error(
    _ message: String, at offset: Int, suggestion: String? = nil, value: String? = nil,
    limit: String? = nil
  ) -> KernelTextError {
    KernelTextError(
      message, in: self.bytes, at: self.libraryCall ?? offset, suggestion: suggestion,
      value: value, limit: limit)
  }

  /// Counts the work of compiling, which a short text can make as long as it likes.
  ///
  /// - Parameter count: The expressions, or as much other work.
  /// - Throws: The error of a text that takes too much.
  mutating func spend(_ count: Int, at offset: Int) throws(KernelTextError) {
    guard self.graph.nodes.count <= Self.maxNodes else {
      throw self.error(
        "more than \(Self.maxNodes) operations on numbers", at: offset, limit: "\(Self.maxNodes)")
    }
    self.evaluationCount += count
    guard self.evaluationCount <= Self.maxEvaluations else {
      throw self.error(
        "more than \(Self.maxEvaluations) expressions with the turns of loops and the calls of "
          + "functions",
        at: offset, limit: "\(Self.maxEvaluations)")
    }
  }

  mutating func value(of expression: KernelExpression) throws(KernelTextError) -> Value {
    try self.spend(1, at: expression.offset)
    self.depth += 1
    defer { self.depth -= 1 }
    guard self.depth <= Self.maxDepth else {
      throw self.error(
        "expressions nest deeper than \(Self.maxDepth) with the functions that they call",
        at: expression.offset, limit: "\(Self.maxDepth)")
    }
    switch expression.kind {
    case .number(let number):
      return Value(type: .number, nodes: [self.graph.constant(number)])
    case .color(let channels):
      return Value(type: .vector(4), nodes: channels.map { self.graph.constant($0) })
    case .flag(let flag):
      return Value(type: .flag, nodes: [self.graph.constant(flag ? 1 : 0)])
    case .name(let name):
      if let binding = self.names[name] { return binding.value }
      guard let image = self.image(named: name) else {
        throw self.unknownName(name, at: expression.offset)
      }
      return self.pixel(ofImage: image)
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
    case .array(let elements):
      return try self.array(elements, at: expression.offset)
    case .element(let operand, let index):
      // Before the call, which reads the graph that the values extend.
      let (value, number) = (try self.value(of: operand), try self.value(of: index))
      return try self.element(of: value, number, at: index.offset)
    }
  }

  func unknownName(_ name: String, at offset: Int) -> KernelTextError {
    if KernelNames.allFunctions.contains(name) || self.callable.contains(where: { $0.name == name })
    {
      return self.error("'\(name)' is a function: write \(name)(...)", at: offset)
    }
    return self.error(
      "there is no value named '\(name.clipped(toBytes: 40))'", at: offset,
      suggestion: KernelNames.nearest(
        to: name, among: self.names.keys + self.syntax.images.map(\.name)),
      value: name)
  }
}
