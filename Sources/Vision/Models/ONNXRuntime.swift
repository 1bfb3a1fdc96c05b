#if Vision
  import CVision

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
#endif
