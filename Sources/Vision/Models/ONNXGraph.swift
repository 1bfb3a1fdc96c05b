import SidelightProtobuf

/// The inputs, outputs and operators of an ONNX model, without its weights.
///
/// The file is read before a runtime sees it: a runtime of C++ then only reads files that are
/// well formed on this level, and faults can name the reason.
package struct ONNXGraph: Sendable, Hashable {
  /// An input or output. A dimension that the model does not fix is `nil`.
  package struct Port: Sendable, Hashable {
    package fileprivate(set) var name = ""
    /// `TensorProto.DataType`: 1 is a 32-bit float.
    fileprivate var elementType: UInt64 = 0
    package fileprivate(set) var dimensions: [Int?] = []

    var isFixed: Bool { !self.dimensions.contains(nil) }

    package var description: String {
      "\(self.name) \(self.dimensions.map { $0.map(String.init) ?? "?" }.joined(separator: "x"))"
    }
  }

  /// The inputs that are not constants.
  package private(set) var inputs: [Port] = []
  package private(set) var outputs: [Port] = []
  /// The parts of the model that OpenCV does not run, with the advice to change them.
  package private(set) var obstacles: [String] = []

  private static let largestRank = 8
  /// The maximum number of inputs, and of outputs. A description is compared with all of them.
  private static let largestPortCount = 256
  private static let floats: UInt64 = 1

  /// Reads a model.
  ///
  /// - Throws: ``VisionError`` if the bytes aren't an ONNX model, or if an input or output exceeds
  ///   the limits.
  init(_ file: [UInt8], limits: ModelLimits = ModelLimits()) throws(VisionError) {
    let text = "it is not an ONNX model"
    // All models begin with the field ir_version. Texts, TFLite files and archives do not.
    guard file.first == 0x08 else { throw VisionError(.malformed, text) }
    var graph: Range<Int>?
    var reader = ModelMessage(file)
    while let (field, value) = try reader.nextField() {
      if case .bytes(let range) = value, field == 7 { graph = range }
    }
    guard let graph else { throw VisionError(.malformed, "\(text): it has no graph") }
    try self.read(reader.message(graph))

    guard !self.inputs.isEmpty, !self.outputs.isEmpty else {
      throw VisionError(.malformed, "\(text): its graph has no inputs or no outputs")
    }
    let ports = max(self.inputs.count, self.outputs.count)
    guard ports <= Self.largestPortCount else {
      throw VisionError(
        .limitExceeded,
        "the model has \(ports) inputs or outputs; at most \(Self.largestPortCount) are supported"
      )
    }
    for port in self.inputs + self.outputs { try Self.check(port, limits) }
  }

  private mutating func read(_ graph: ModelMessage) throws(VisionError) {
    var graph = graph
    var constants: Set<String> = []
    var nodes: [Node] = []
    while let (field, value) = try graph.nextField() {
      guard case .bytes(let range) = value else { continue }
      switch field {
      case 1: nodes.append(try Node(graph.message(range)))
      case 5: constants.insert(try ONNXConstant(graph.message(range)).name)
      case 11: self.inputs.append(try Self.port(graph.message(range)))
      case 12: self.outputs.append(try Self.port(graph.message(range)))
      default: break
      }
    }
    try Self.checkConnections(nodes, known: constants.union(self.inputs.map(\.name)))
    // Older exporters list the constants among the inputs.
    self.inputs.removeAll { constants.contains($0.name) }
    self.findObstacles(nodes, constants: constants)
  }

  /// Refuses nodes that take a value which earlier parts of the graph don't compute: OpenCV ends
  /// the process then.
  private static func checkConnections(
    _ nodes: [Node], known: Set<String>
  ) throws(VisionError) {
    var known = known
    for node in nodes {
      // An optional input that is left out has an empty name.
      for input in node.inputs where !input.isEmpty && !known.contains(input) {
        throw VisionError(
          .malformed, "\(node.kind) takes \(input), which nothing before it computes")
      }
      known.formUnion(node.outputs)
    }
  }

  private mutating func findObstacles(_ nodes: [Node], constants: Set<String>) {
    var found: Set<String> = []
    for node in nodes {
      let takesConstant = node.inputs.dropFirst(node.kind == "Identity" ? 0 : 1)
        .contains(where: constants.contains)
      switch node.kind {
      case "Identity" where takesConstant:
        found.insert("Identity of a constant: export with folded constants")
      case "Clip" where takesConstant:
        found.insert("Clip with bounds that are inputs: export with opset 10, or without ReLU6")
      case let kind where kind.contains("Quantize") || kind.contains("Integer"):
        found.insert("\(kind): export without quantization")
      case "If", "Loop", "Scan":
        found.insert("\(node.kind): export without control flow")
      default: break
      }
    }
    self.obstacles = found.sorted()
  }

  // MARK: Messages

  /// A node of the graph.
  private struct Node {
    var kind = ""
    var inputs: [String] = []
    var outputs: [String] = []

    init(_ message: ModelMessage) throws(VisionError) {
      var message = message
      while let (field, value) = try message.nextField() {
        guard case .bytes(let range) = value else { continue }
        switch field {
        case 1: self.inputs.append(message.text(range))
        case 2: self.outputs.append(message.text(range))
        case 4: self.kind = message.text(range)
        case 5:
          var attribute = message.message(range)
          while let (field, value) = try attribute.nextField() {
            guard case .bytes(let range) = value, field == 5 || field == 10 else { continue }
            _ = try ONNXConstant(attribute.message(range))
          }
        default: break
        }
      }
    }
  }

  /// Reads a `ValueInfoProto`: a name, and a type that holds a tensor type, which holds a shape.
  private static func port(_ message: ModelMessage) throws(VisionError) -> Port {
    var message = message
    var port = Port()
    while let (field, value) = try message.nextField() {
      guard case .bytes(let range) = value else { continue }
      if field == 1 { port.name = message.text(range) }
      guard field == 2 else { continue }
      var type = message.message(range)
      while let (field, value) = try type.nextField() {
        guard field == 1, case .bytes(let range) = value else { continue }
        var tensor = type.message(range)
        while let (field, value) = try tensor.nextField() {
          switch (field, value) {
          case (1, .number(let type)): port.elementType = type
          case (2, .bytes(let range)):
            var shape = tensor.message(range)
            while let (field, value) = try shape.nextField() {
              guard field == 1, case .bytes(let range) = value else { continue }
              port.dimensions.append(try Self.dimension(shape.message(range)))
            }
          default: break
          }
        }
      }
    }
    return port
  }

  private static func dimension(_ message: ModelMessage) throws(VisionError) -> Int? {
    var message = message
    while let (field, value) = try message.nextField() {
      // Exporters write 0 and -1 for sizes that are not fixed.
      if case .number(let size) = value, field == 1, size > 0, size <= UInt64(Int32.max) {
        return Int(size)
      }
    }
    return nil
  }

  private static func check(_ port: Port, _ limits: ModelLimits) throws(VisionError) {
    guard port.elementType == Self.floats else {
      throw VisionError(
        .unsupported,
        "\(port.name) is not of 32-bit floats: export with float32 inputs and outputs, without "
          + "quantization"
      )
    }
    guard port.dimensions.count <= Self.largestRank else {
      throw VisionError(
        .limitExceeded,
        "\(port.description) has \(port.dimensions.count) dimensions; at most "
          + "\(Self.largestRank) are supported"
      )
    }
    var count = 1
    for dimension in port.dimensions {
      let (product, overflow) = count.multipliedReportingOverflow(by: dimension ?? 1)
      guard !overflow, product <= limits.tensorValues else {
        throw VisionError(
          .limitExceeded,
          "\(port.description) has too many values; the limit is \(limits.tensorValues)")
      }
      count = product
    }
  }
}

/// A constant of an ONNX model (`TensorProto`), with as many values as its dimensions require.
///
/// OpenCV believes the dimensions: it reads beyond the values, or divides by a dimension of 0.
struct ONNXConstant {
  private(set) var name = ""

  private var dimensions: [UInt64] = []
  private var type: UInt64 = 0
  private var isExternal = false
  // The number of values per field that may hold them, and of bytes in `raw_data`.
  private var floats = 0
  private var integers = 0
  private var longs = 0
  private var doubles = 0
  private var rawBytes = 0

  /// Reads a constant.
  ///
  /// - Throws: ``VisionError`` if the values are in another file, or don't match the dimensions.
  init(_ message: ModelMessage) throws(VisionError) {
    var message = message
    while let (field, value) = try message.nextField() {
      switch (field, value) {
      case (1, .number(let size)): self.dimensions.append(size)
      case (1, .bytes(let range)):
        var sizes = message.message(range)
        while let size = try sizes.nextListNumber() { self.dimensions.append(size) }
      case (2, .number(let type)): self.type = type
      case (4, .bytes(let range)), (4, .fixed(let range)): self.floats += range.count / 4
      case (5, _): self.integers += try Self.count(value, in: message)
      case (7, _): self.longs += try Self.count(value, in: message)
      case (8, .bytes(let range)): self.name = message.text(range)
      case (9, .bytes(let range)): self.rawBytes = range.count
      case (10, .bytes(let range)), (10, .fixed(let range)): self.doubles += range.count / 8
      case (14, .number(let location)): self.isExternal = location != 0
      default: break
      }
    }
    try self.check()
  }

  /// The number of integers in a field, which can be packed.
  private static func count(
    _ value: ModelMessage.Value, in message: ModelMessage
  ) throws(VisionError) -> Int {
    guard case .bytes(let range) = value else { return 1 }
    var numbers = message.message(range)
    var count = 0
    while try numbers.nextListNumber() != nil { count += 1 }
    return count
  }

  private func check() throws(VisionError) {
    guard !self.isExternal else {
      throw VisionError(
        .unsupported, "the constant \(self.name) is in another file: export the model as one file")
    }
    // The size of a value in `raw_data`, and the number of values in the field of the type.
    let (size, values): (Int, Int)
    switch self.type {
    case 1: (size, values) = (4, self.floats)
    case 2, 3, 9: (size, values) = (1, self.integers)
    case 4, 5, 10, 16: (size, values) = (2, self.integers)
    case 6: (size, values) = (4, self.integers)
    case 7: (size, values) = (8, self.longs)
    case 11: (size, values) = (8, self.doubles)
    default: return
    }
    // Lists can be empty. OpenCV divides by the dimensions of other constants.
    guard self.dimensions.count == 1 || !self.dimensions.contains(0) else {
      throw VisionError(.malformed, "the constant \(self.name) has a dimension of 0")
    }
    var expected: UInt64 = 1
    for dimension in self.dimensions {
      let (product, overflow) = expected.multipliedReportingOverflow(by: dimension)
      expected = overflow ? .max : product
    }
    let count = values == 0 ? self.rawBytes / size : values
    let isWhole = values == 0 ? self.rawBytes % size == 0 : self.rawBytes == 0
    guard isWhole, UInt64(count) == expected else {
      throw VisionError(
        .malformed,
        "the constant \(self.name) has \(count) values; its dimensions say \(expected)")
    }
  }
}
