#if Vision
  import CVision

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
