#if Vision
  import CVision
#endif

/// A library that runs models.
public protocol ModelRuntime: Sendable {
  /// The name of the runtime for messages.
  var name: String { get }

  /// Loads a model and runs it once with zeros.
  ///
  /// - Parameter inputs: The sizes of the inputs without a fixed size in the model.
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

#if Vision
  /// Runs ONNX models with ONNX Runtime, on the calling thread.
  ///
  /// The operator installs its shared library; Sidelight is not linked with it. It reads more
  /// models than OpenCV, and runs small ones two to three times faster.
  public struct ONNXRuntime: ModelRuntime {
    /// The name of the runtime for messages.
    public let name = "ONNX Runtime"
    private let library: Library

    /// Loads the shared library. It stays loaded until the process ends.
    ///
    /// - Parameter path: The path of `libonnxruntime.so`.
    /// - Throws: ``VisionError`` with code ``VisionError/Code/unavailable``.
    public init(path: String) throws(VisionError) {
      guard let handle = unsafe cvision_runtime_open(path) else {
        throw VisionError(
          .unavailable, "ONNX Runtime cannot be loaded from \(path): \(VisionError.lastFailure)")
      }
      self.library = unsafe Library(handle: handle)
    }

    /// Loads a model and runs it once with zeros.
    ///
    /// Copies of the result share the network, and run one at a time.
    public func load(_ model: ModelFile, inputs: [TensorShape]) throws -> any LoadedModel {
      let shapes = try model.graph.inputs.map { try Self.shape($0, inputs, model) }
      let handle = unsafe cvision_session_open(
        self.library.handle, model.bytes, model.bytes.count)
      guard let handle = unsafe handle else {
        throw model.error(.unsupported, "ONNX Runtime cannot run it (\(VisionError.lastFailure))")
      }
      let network = unsafe Network(
        .onnxRuntime, handle, inputs: shapes, outputs: model.graph.outputs.map(\.name))
      do {
        return try NetworkModel(network, model)
      } catch {
        guard error.code == .failed else { throw model.error(error.code, error.message) }
        throw model.error(.unsupported, "ONNX Runtime cannot run it (\(error.message))")
      }
    }

    /// Returns the size of an input: the model's, completed by the given one.
    private static func shape(
      _ port: ONNXGraph.Port, _ given: [TensorShape], _ model: ModelFile
    ) throws(VisionError) -> TensorShape {
      let given = given.first { $0.name == port.name }?.dimensions
      let dimensions = port.dimensions.indices.map { index -> Int? in
        port.dimensions[index]
          ?? (given?.count == port.dimensions.count ? given?[index] : index == 0 ? 1 : nil)
      }
      let fixed = dimensions.compactMap { $0 }
      guard fixed.count == dimensions.count else {
        throw model.error(
          .unsupported,
          "the input \(port.description) has no fixed size: state its width and height in the "
            + "description, or export with fixed sizes"
        )
      }
      return TensorShape(name: port.name, dimensions: fixed)
    }

    /// A loaded library.
    @safe
    private final class Library: @unchecked Sendable {  // ONNX Runtime's environment is thread-safe
      let handle: OpaquePointer

      init(handle: OpaquePointer) { unsafe self.handle = handle }
    }
  }

  /// Runs ONNX models with OpenCV's DNN module, on the calling thread.
  ///
  /// OpenCV 4.6 reads models with inputs of fixed sizes, of opset 11 to 17. It does not read
  /// `Identity` of constants, `Clip` with bounds that are inputs, or quantized models.
  public struct OpenCVRuntime: ModelRuntime {
    /// The name of the runtime for messages.
    public let name = "OpenCV"

    /// Creates a runtime.
    public init() {}

    /// Loads a model and runs it once with zeros.
    ///
    /// Copies of the result share the network, and run one at a time.
    public func load(_ model: ModelFile, inputs: [TensorShape]) throws -> any LoadedModel {
      for port in model.graph.inputs where !port.isFixed {
        throw model.error(
          .unsupported,
          "the input \(port.description) has no fixed size: export with fixed sizes and folded "
            + "constants"
        )
      }
      guard let handle = unsafe cvision_net_open(model.bytes, model.bytes.count) else {
        throw model.error(.unsupported, Self.advice(model, VisionError.lastFailure))
      }
      let network = unsafe Network(
        .openCV, handle,
        inputs: model.graph.inputs.map {
          TensorShape(name: $0.name, dimensions: $0.dimensions.compactMap { $0 })
        },
        outputs: model.graph.outputs.map(\.name))
      do {
        return try NetworkModel(network, model)
      } catch {
        guard error.code != .limitExceeded else {
          throw model.error(error.code, error.message)
        }
        throw model.error(.unsupported, Self.advice(model, error.message))
      }
    }

    /// Explains why OpenCV cannot run a model: the known unsupported feature in it, or the most
    /// frequent reasons.
    private static func advice(_ model: ModelFile, _ reason: String) -> String {
      let obstacles =
        model.graph.obstacles.isEmpty
        ? "export with fixed sizes and folded constants, in opset 11 to 17"
        : model.graph.obstacles.joined(separator: "; ")
      return "OpenCV cannot run it (\(reason)); \(obstacles), or configure the runtime ONNX Runtime"
    }
  }
#endif
