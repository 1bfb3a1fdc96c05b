/// A library that runs models.
public protocol ModelRuntime: Sendable {
  /// The name of the runtime for messages.
  var name: String { get }

  /// Loads a model and runs it once with zeros.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - inputs: The sizes of the inputs without a fixed size in the model.
  /// - Throws: ``VisionError`` if the runtime cannot run the model.
  func load(_ model: ModelFile, inputs: [TensorShape]) throws -> any LoadedModel
}

extension ModelRuntime {
  /// Loads a model with inputs of fixed sizes, and runs it once with zeros.
  ///
  /// - Throws: ``VisionError`` if the runtime cannot run the model.
  public func load(_ model: ModelFile) throws -> any LoadedModel {
    try self.load(model, inputs: [])
  }
}

/// A model that is ready to run.
public protocol LoadedModel: Sendable {
  /// The inputs in the order in which ``run(_:)`` takes them.
  var inputs: [TensorShape] { get }
  /// The outputs in the order in which ``run(_:)`` returns them.
  var outputs: [TensorShape] { get }

  /// Computes the outputs.
  ///
  /// - Throws: ``VisionError`` if the dimensions of an input differ, or if the runtime fails.
  mutating func run(_ inputs: [Tensor]) throws -> [Tensor]
}

/// Bounds for models, to keep a file from taking all memory or time.
public struct ModelLimits: Sendable, Hashable {
  /// The largest file in bytes.
  public var fileBytes = 256 << 20
  /// The maximum number of values of an input or output.
  public var tensorValues = 16 << 20
  /// The maximum sum of the intermediate results in bytes, if the runtime reports it.
  public var workingBytes: Int64 = 1 << 30
  /// The maximum number of floating-point operations of a run, if the runtime reports them.
  public var operations: Int64 = 100_000_000_000

  /// Creates the default limits.
  public init() {}
}

/// The name and the size of an input or output of a model.
public struct TensorShape: Sendable, Hashable, CustomStringConvertible {
  /// The name in the model.
  public let name: String
  /// The dimensions, the slowest first; at least 1.
  public let dimensions: [Int]

  /// Creates a shape.
  public init(name: String, dimensions: [Int]) {
    self.name = name
    self.dimensions = dimensions
  }

  /// The number of values.
  public var count: Int { self.dimensions.reduce(1, *) }

  /// The name and the dimensions, as in `input 1x3x144x256`.
  public var description: String {
    "\(self.name) \(self.dimensions.map(String.init).joined(separator: "x"))"
  }
}

/// An array of floats in row-major order.
public struct Tensor: Sendable, Hashable {
  /// The dimensions, the slowest first; at least 1.
  public let dimensions: [Int]
  /// The values; the last dimension is the fastest.
  public let values: [Float]

  /// Creates a tensor.
  ///
  /// - Precondition: `values.count` is the product of the dimensions.
  public init(dimensions: [Int], values: [Float]) {
    precondition(values.count == dimensions.reduce(1, *))
    self.dimensions = dimensions
    self.values = values
  }

  /// Creates a tensor with one value everywhere.
  public init(_ shape: TensorShape, repeating value: Float = 0) {
    self.init(
      dimensions: shape.dimensions, values: [Float](repeating: value, count: shape.count))
  }
}
