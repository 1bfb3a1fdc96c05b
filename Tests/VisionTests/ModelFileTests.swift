import Foundation
import SidelightKernels
import Testing

@testable import SidelightVision

@Suite("Model files")
struct ModelFileTests {
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

  @Test("The inputs and outputs of a model are read without its weights")
  func readsPorts() throws {
    let file = try ModelFile(name: "person", path: "person.onnx", bytes: Self.model.bytes)
    #expect(file.graph.inputs.map(\.description) == ["input 1x3x4x8"])
    #expect(file.graph.outputs.map(\.description) == ["output 1x1x4x8"])
    #expect(file.graph.obstacles.isEmpty)
  }

  @Test("Constants that are listed as inputs are no inputs")
  func skipsConstants() throws {
    var model = Self.model
    model.inputs.append(ONNXBuilder.Port(name: "weights", dimensions: [1, 3, 1, 1]))
    let file = try ModelFile(name: "person", path: "person.onnx", bytes: model.bytes)
    #expect(file.graph.inputs.map(\.name) == ["input"])
  }

  @Test(
    "A file that is no model is refused with the name of the model and its path",
    arguments: [
      [UInt8](), Array("not a model".utf8), Array("<html></html>".utf8), [0x08], [0x08, 0x07],
      Array("....TFL3....".utf8), [UInt8](repeating: 0xFF, count: 1000),
      [0x08, 0x08, 0x3A, 0xFF, 0xFF, 0xFF, 0x7F], [0x08, 0x08, 0x3A, 0x02, 0x08, 0x01],
    ])
  func refusesOtherFiles(bytes: [UInt8]) throws {
    let error = try #require(self.error(bytes))
    #expect(error.code == .malformed)
    #expect(error.message.hasPrefix("model person (/models/person.onnx): "))
  }

  @Test("A model that is cut off or changed at any byte is read or refused, and never traps")
  func survivesDamage() {
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

  @Test("An input beyond the limit is refused, also if its count overflows")
  func refusesHugeInputs() throws {
    for side in [100_000, Int(Int32.max)] {
      let model = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: side, height: side)
      let error = try #require(self.error(model.bytes))
      #expect(error.code == .limitExceeded)
      #expect(error.message.contains("input 1x3x\(side)x\(side) has too many values"))
    }
  }

  @Test(
    "Constants whose dimensions do not fit their values are refused by name",
    arguments: [[1, 7, 1, 1], [1, 2, 1, 1], [3, 3], [0], [Int(Int32.max), Int(Int32.max)]])
  func refusesConstantsOfOtherSizes(dimensions: [Int]) throws {
    var model = Self.model
    model.constants[0].dimensions = dimensions
    let error = try #require(self.error(model.bytes))
    #expect(error.code == .malformed)
    #expect(error.message.contains("the constant \"weights\" has "))
  }

  @Test("A constant without values and a scalar are read")
  func readsEmptyConstants() {
    var model = Self.model
    model.constants.append(ONNXBuilder.Constant(name: "none", dimensions: [0], values: []))
    model.constants.append(ONNXBuilder.Constant(name: "scalar", dimensions: [], values: [1]))
    #expect(self.error(model.bytes) == nil)
  }

  @Test("A node that reads what no earlier node writes is refused", arguments: [0, 1])
  func refusesUnknownInputs(index: Int) throws {
    for name in ["nothing", "output"] {
      var model = Self.model
      model.nodes[0].inputs[index] = name
      let error = try #require(self.error(model.bytes))
      #expect(error.code == .malformed)
      #expect(error.message.contains("a node Conv reads \"\(name)\""))
    }
    var model = Self.model
    model.nodes[0].inputs.append("")
    #expect(self.error(model.bytes) == nil)
  }

  @Test("A quantized input is refused with the advice to export floats")
  func refusesIntegers() throws {
    var model = Self.model
    model.inputs[0].elementType = 2
    let error = try #require(self.error(model.bytes))
    #expect(error.code == .unsupported)
    #expect(error.message.contains("without quantization"))
  }

  @Test("A file that is missing, a folder, or too large is refused")
  func refusesUnreadableFiles() throws {
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

  @Test("What OpenCV does not read is known by the operators")
  func findsObstacles() throws {
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
