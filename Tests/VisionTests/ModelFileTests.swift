import Foundation
import SidelightKernels
import SidelightVision
import Testing

@Suite struct `Model files` {
  private static let model = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: 8, height: 4)

  /// Returns the error of a file.
  private func error(_ bytes: [UInt8], _ limits: ModelLimits = ModelLimits()) -> VisionError? {
    do {
      _ = try ModelFile(name: "person", path: "/models/person.onnx", bytes: bytes, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  @Test func `the inputs and outputs of a model are read without its weights`() throws {
    let file = try ModelFile(name: "person", path: "person.onnx", bytes: Self.model.bytes)
    #expect(file.graph.inputs.map(\.description) == ["input 1x3x4x8"])
    #expect(file.graph.outputs.map(\.description) == ["output 1x1x4x8"])
    #expect(file.graph.obstacles.isEmpty)
  }

  @Test func `constants that are listed as inputs are no inputs`() throws {
    var model = Self.model
    model.inputs.append(ONNXBuilder.Port(name: "weights", dimensions: [1, 3, 1, 1]))
    let file = try ModelFile(name: "person", path: "person.onnx", bytes: model.bytes)
    #expect(file.graph.inputs.map(\.name) == ["input"])
  }

  @Test(
    arguments: [
      [UInt8](), Array("not a model".utf8), Array("<html></html>".utf8), [0x08], [0x08, 0x07],
      Array("....TFL3....".utf8), [UInt8](repeating: 0xFF, count: 1000),
      [0x08, 0x08, 0x3A, 0xFF, 0xFF, 0xFF, 0x7F], [0x08, 0x08, 0x3A, 0x02, 0x08, 0x01],
    ])
  func `a file that is no model is refused with the name of the model and its path`(bytes: [UInt8])
    throws
  {
    let error = try #require(self.error(bytes))
    #expect(error.code == .malformed)
    #expect(error.message.hasPrefix("model person (/models/person.onnx): "))
  }

  @Test
  func `a model that is cut off or changed at any byte is read or refused, and never traps`() {
    let bytes = Self.model.bytes
    for count in 0 ..< bytes.count {
      _ = self.error(Array(bytes.prefix(count)))
      for value in [0, 0x7F, 0x80, 0xFF] as [UInt8] {
        var damaged = bytes
        damaged[count] = value
        _ = self.error(damaged)
      }
    }
    #expect(self.error(bytes) == nil)
  }

  @Test func `an input beyond the limit is refused, also if its count overflows`() throws {
    for side in [100_000, Int(Int32.max)] {
      let model = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: side, height: side)
      let error = try #require(self.error(model.bytes))
      #expect(error.code == .limitExceeded)
      #expect(error.message.contains("input 1x3x\(side)x\(side) has too many values"))
    }
  }

  @Test func `a constant with fewer or more values than its dimensions say is refused`() throws {
    let cases: [([Int], Int)] = [
      ([1, 3, 1, 1], 1), ([1, 3, 1, 1], 4), ([1, 3, 1, 1], 0), ([1, 0, 1, 1], 0), ([], 3),
      ([1 << 32, 1 << 32], 0), ([1 << 62, 4], 3),
    ]
    for (dimensions, count) in cases {
      var model = Self.model
      model.constants[0].dimensions = dimensions
      model.constants[0].values = [Float](repeating: 1, count: count)
      let error = try #require(self.error(model.bytes), "\(dimensions), \(count) values")
      #expect(error.code == .malformed && error.message.contains("the constant weights has"))
    }
    var model = Self.model
    model.constants.append(ONNXBuilder.Constant(name: "empty", dimensions: [0], values: []))
    #expect(self.error(model.bytes) == nil)
  }

  @Test func `a node that takes a value which nothing before it computes is refused`() throws {
    var missing = Self.model
    missing.nodes[0].inputs[1] = "nothing"
    var late = Self.model
    late.nodes[0].inputs[0] = "z"
    late.nodes.append(ONNXBuilder.Node(kind: "Relu", inputs: ["input"], output: "z"))
    for (model, name) in [(missing, "nothing"), (late, "z")] {
      let error = try #require(self.error(model.bytes))
      #expect(error.code == .malformed)
      #expect(error.message.contains("Conv takes \(name), which nothing before it computes"))
    }
    var optional = Self.model
    optional.nodes[0].inputs.append("")
    #expect(self.error(optional.bytes) == nil)
  }

  @Test func `more than 256 inputs or outputs are refused, except for constants`() throws {
    let names = (0 ..< 257).map { "p\($0)" }
    let ports = names.map { ONNXBuilder.Port(name: $0, dimensions: [1]) }
    var inputs = Self.model
    inputs.inputs += ports
    #expect(self.error(inputs.bytes)?.code == .limitExceeded)
    var outputs = Self.model
    outputs.outputs += ports
    #expect(self.error(outputs.bytes)?.code == .limitExceeded)
    inputs.constants += names.map {
      ONNXBuilder.Constant(name: $0, dimensions: [1], values: [1])
    }
    #expect(self.error(inputs.bytes) == nil)
  }

  @Test func `a quantized input is refused with the advice to export floats`() throws {
    var model = Self.model
    model.inputs[0].elementType = 2
    let error = try #require(self.error(model.bytes))
    #expect(error.code == .unsupported)
    #expect(error.message.contains("without quantization"))
  }

  @Test func `a file that is missing, a folder, or too large is refused`() throws {
    func code(_ path: String, _ limits: ModelLimits = ModelLimits()) -> VisionError.Code? {
      do {
        _ = try ModelFile(name: "person", path: path, limits: limits)
        return nil
      } catch { return error.code }
    }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("vision-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("m.onnx").path
    try Data(Self.model.bytes).write(to: URL(fileURLWithPath: path))

    #expect(code(folder.path + "/none.onnx") == .unreadable)
    #expect(code(folder.path) == .unreadable)
    #expect(code(path) == nil)
    var limits = ModelLimits()
    limits.fileBytes = Self.model.bytes.count - 1
    #expect(code(path, limits) == .limitExceeded)
  }

  @Test func `what OpenCV does not read is known by the operators`() throws {
    var model = Self.model
    model.nodes += [
      ONNXBuilder.Node(kind: "Identity", inputs: ["weights"], output: "x"),
      ONNXBuilder.Node(kind: "Clip", inputs: ["output", "weights"], output: "y"),
      ONNXBuilder.Node(kind: "DynamicQuantizeLinear", inputs: ["output"], output: "z"),
      ONNXBuilder.Node(kind: "Identity", inputs: ["output"], output: "w"),
    ]
    let file = try ModelFile(name: "person", path: "person.onnx", bytes: model.bytes)
    #expect(
      file.graph.obstacles == [
        "Clip with bounds that are inputs: export with opset 10, or without ReLU6",
        "DynamicQuantizeLinear: export without quantization",
        "Identity of a constant: export with folded constants",
      ])
  }
}
