import SidelightKernels

/// A model that is loaded, checked, and known how to use.
///
/// Sessions share a model. It holds as many instances as run at the same time.
public struct VisionModel: Sendable {
  /// The name of the model in the configuration.
  public let name: String
  /// The purpose of the model.
  public var task: ModelTask { self.description.task }
  let description: ModelDescription
  package let inputs: [TensorShape]
  let outputs: [TensorShape]
  private let pool: InstancePool<any LoadedModel, any Error>
  private let file: ModelFile

  /// Loads a model and runs it once.
  ///
  /// - Throws: ``VisionError`` that names the model and its file.
  public init(
    _ file: ModelFile, task: ModelTask, runtime: any ModelRuntime
  ) throws {
    let stated = try ModelDescriptionFile.read(nextTo: file)
    let sizes = Self.sizes(file.graph, stated)
    self.pool = InstancePool { try runtime.load(file, inputs: sizes) }
    let (inputs, outputs) = try self.pool.withInstance { ($0.inputs, $0.outputs) }
    do {
      self.description = try ModelDescription.resolve(
        task, inputs: inputs, outputs: outputs, file: stated)
    } catch {
      throw file.error(error.code, error.message)
    }
    self.name = file.name
    self.file = file
    self.inputs = inputs
    self.outputs = outputs
  }

  /// Runs the model. `tensors` are in the order of `inputs`, the results in the order of `outputs`.
  package func run(_ tensors: [Tensor]) throws -> [Tensor] {
    do {
      return try self.pool.withInstance { try $0.run(tensors) }
    } catch let error as VisionError {
      throw self.file.error(error.code, error.message)
    }
  }

  /// Returns an error about this model's results.
  func failure(_ message: String) -> VisionError { self.file.error(.failed, message) }

  /// Returns the sizes that a description gives to inputs for pictures.
  private static func sizes(
    _ graph: ONNXGraph, _ file: ModelDescriptionFile?
  ) -> [TensorShape] {
    guard let width = file?.input?.width, let height = file?.input?.height,
      (1 ... 4096).contains(width), (1 ... 4096).contains(height)
    else { return [] }
    return graph.inputs.compactMap { port in
      guard port.dimensions.count == 4 else { return nil }
      if let name = file?.input?.name, name != port.name { return nil }
      return switch (port.dimensions[1], port.dimensions[3], file?.input?.layout) {
      case (3, _, .nchw), (3, _, nil):
        TensorShape(name: port.name, dimensions: [1, 3, height, width])
      case (_, 3, .nhwc), (_, 3, nil):
        TensorShape(name: port.name, dimensions: [1, height, width, 3])
      default: nil
      }
    }
  }
}

/// A model configured by an operator, in text `NAME=TASK:FILE` or `NAME=TASK@RUNTIME:FILE`.
public struct ConfiguredModel: Sendable, Hashable, CustomStringConvertible {
  /// The choice of the library that runs a model.
  public enum Runtime: String, Sendable, Hashable, CaseIterable {
    /// ONNX Runtime if its library is configured, else OpenCV.
    case auto
    /// OpenCV's DNN module.
    case opencv
    /// ONNX Runtime, which requires the path of its library.
    case onnxruntime
  }

  /// The name, for messages and for a pipeline's matte: 1 to 64 letters, digits, `-`, `_` or `.`.
  public let name: String
  /// The purpose of the model.
  public let task: ModelTask
  /// The path of the ONNX file.
  public let file: String
  /// The library that runs the model.
  public let runtime: Runtime

  /// The names that mattes without a model have.
  package static let reservedNames: Set<String> = ["plate", "key", "portrait"]

  /// Creates a configured model.
  ///
  /// - Throws: ``VisionError`` with code ``VisionError/Code/invalidConfiguration``.
  public init(
    name: String, task: ModelTask, file: String, runtime: Runtime = .auto
  ) throws(VisionError) {
    try self.init(
      fields: ["name": name, "task": task.rawValue, "file": file, "runtime": runtime.rawValue])
  }

  package static let fieldNames = ["name", "task", "file", "runtime"]

  /// Creates a configured model from its fields. The runtime may be missing.
  ///
  /// - Throws: ``VisionError`` with a clause as its message.
  package init(fields: [String: String]) throws(VisionError) {
    for field in Self.fieldNames where field != "runtime" && fields[field] == nil {
      throw VisionError(.invalidConfiguration, "\(field) is missing")
    }
    self.name = try Self.validName(fields["name"] ?? "")
    self.task = try Self.choice(fields["task"] ?? "", "task")
    self.runtime = try Self.choice(fields["runtime"] ?? Runtime.auto.rawValue, "runtime")
    self.file = fields["file"] ?? ""
    guard (1 ... 4096).contains(self.file.utf8.count) else {
      throw VisionError(
        .invalidConfiguration, "the file has \(self.file.utf8.count) bytes; the range is 1 to 4096")
    }
  }

  /// Parses `NAME=TASK:FILE` or `NAME=TASK@RUNTIME:FILE`.
  ///
  /// - Throws: ``VisionError`` with a clause as its message.
  public init(_ text: String) throws(VisionError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.dropFirst().first?
      .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let rest, rest.count == 2, let name = parts.first else {
      throw VisionError(.invalidConfiguration, "expected \(Self.form)")
    }
    let kind = rest[0].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    var fields = ["name": name, "task": kind[0], "file": rest[1]]
    if kind.count == 2 { fields["runtime"] = kind[1] }
    try self.init(fields: fields.mapValues(String.init))
  }

  package static let form = "NAME=TASK:FILE or NAME=TASK@RUNTIME:FILE"

  /// The text, which ``init(_:)`` parses.
  public var description: String {
    let runtime = self.runtime == .auto ? "" : "@\(self.runtime.rawValue)"
    return "\(self.name)=\(self.task.rawValue)\(runtime):\(self.file)"
  }

  private static func validName(_ name: String) throws(VisionError) -> String {
    let isWord = name.utf8.allSatisfy { byte in
      (UInt8(ascii: "a") ... UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0") ... UInt8(ascii: "9")).contains(byte)
        || "-_.".utf8.contains(byte)
    }
    guard isWord, (1 ... 64).contains(name.utf8.count) else {
      throw VisionError(
        .invalidConfiguration, "the name must be 1 to 64 letters, digits, -, _ or .")
    }
    guard !self.reservedNames.contains(name) else {
      throw VisionError(
        .invalidConfiguration, "the name \(name) is reserved for the matte without a model")
    }
    return name
  }

  private static func choice<Value>(
    _ text: String, _ field: String
  ) throws(VisionError) -> Value
  where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    if let value = Value(rawValue: text) { return value }
    let names = Value.allCases.map(\.rawValue)
    let nearest = Spelling.nearest(to: text, among: names).map { "; did you mean \($0)?" }
    throw VisionError(
      .invalidConfiguration,
      "the \(field) is \(text.prefix(64).debugDescription); expected "
        + "\(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")\(nearest ?? "")")
  }
}
