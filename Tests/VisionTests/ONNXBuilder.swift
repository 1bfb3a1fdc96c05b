/// Small ONNX models for tests.
struct ONNXBuilder {
  /// A node of the graph.
  struct Node {
    var kind: String
    var inputs: [String]
    var output: String
    var attributes: [String: [Int]] = [:]
  }

  /// A constant of the graph.
  struct Constant {
    var name: String
    var dimensions: [Int]
    var values: [Float]
  }

  /// An input or output. A dimension of `nil` is not fixed.
  struct Port {
    var name: String
    var dimensions: [Int?]
    var elementType = 1
  }

  var inputs: [Port]
  var outputs: [Port]
  var nodes: [Node] = []
  var constants: [Constant] = []

  /// A 1x1 convolution of three channels.
  ///
  /// - Parameter weights: The weights of the input's channels, by channel of the result.
  static func convolution(
    weights: [[Float]], width: Int?, height: Int?, isPlanar: Bool = true,
    input: String = "input", output: String = "output"
  ) -> ONNXBuilder {
    let count = weights.count
    let constant = Constant(
      name: "weights", dimensions: [count, 3, 1, 1], values: weights.flatMap { $0 })
    let size: ([Int?], [Int?]) =
      isPlanar
      ? ([1, 3, height, width], [1, count, height, width])
      : ([1, height, width, 3], [1, height, width, count])
    let kernel = ["kernel_shape": [1, 1]]
    let nodes =
      isPlanar
      ? [Node(kind: "Conv", inputs: [input, "weights"], output: output, attributes: kernel)]
      : [
        Node(kind: "Transpose", inputs: [input], output: "a", attributes: ["perm": [0, 3, 1, 2]]),
        Node(kind: "Conv", inputs: ["a", "weights"], output: "b", attributes: kernel),
        Node(kind: "Transpose", inputs: ["b"], output: output, attributes: ["perm": [0, 2, 3, 1]]),
      ]
    return ONNXBuilder(
      inputs: [Port(name: input, dimensions: size.0)],
      outputs: [Port(name: output, dimensions: size.1)],
      nodes: nodes, constants: [constant])
  }

  /// The bytes of the file.
  var bytes: [UInt8] {
    var graph: [UInt8] = []
    for node in self.nodes {
      var message = node.inputs.flatMap { Self.text(1, $0) }
      message += Self.text(2, node.output) + Self.text(3, node.output) + Self.text(4, node.kind)
      for (name, values) in node.attributes.sorted(by: { $0.key < $1.key }) {
        let attribute = Self.text(1, name) + values.flatMap { Self.number(8, $0) }
        message += Self.bytes(5, attribute + Self.number(20, 7))
      }
      graph += Self.bytes(1, message)
    }
    graph += Self.text(2, "graph")
    for constant in self.constants {
      var message = constant.dimensions.flatMap { Self.number(1, $0) } + Self.number(2, 1)
      message += Self.text(8, constant.name)
      message += Self.bytes(
        9,
        constant.values.flatMap { value in
          (0 ..< 4).map { UInt8(value.bitPattern >> (8 * $0) & 0xFF) }
        })
      graph += Self.bytes(5, message)
    }
    for (field, ports) in [(11, self.inputs), (12, self.outputs)] {
      for port in ports {
        let shape = port.dimensions.flatMap { size in
          Self.bytes(1, size.map { Self.number(1, $0) } ?? Self.text(2, "any"))
        }
        let tensor = Self.number(1, port.elementType) + Self.bytes(2, shape)
        graph += Self.bytes(field, Self.text(1, port.name) + Self.bytes(2, Self.bytes(1, tensor)))
      }
    }
    return Self.number(1, 8) + Self.bytes(7, graph)
      + Self.bytes(8, Self.text(1, "") + Self.number(2, 13))
  }

  private static func varint(_ value: Int) -> [UInt8] {
    var rest = UInt64(value)
    var result: [UInt8] = []
    while rest > 0x7F {
      result.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return result + [UInt8(rest)]
  }

  private static func number(_ field: Int, _ value: Int) -> [UInt8] {
    self.varint(field << 3) + self.varint(value)
  }

  private static func bytes(_ field: Int, _ value: [UInt8]) -> [UInt8] {
    self.varint(field << 3 | 2) + self.varint(value.count) + value
  }

  private static func text(_ field: Int, _ value: String) -> [UInt8] {
    self.bytes(field, Array(value.utf8))
  }
}
