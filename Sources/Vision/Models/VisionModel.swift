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
