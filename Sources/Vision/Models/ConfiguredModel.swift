import SidelightKernels

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

  /// The names of the fields of a model.
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

  /// The forms of the text.
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
