#if Vision
  import CVision
  import Synchronization

  /// A network in OpenCV or ONNX Runtime.
  @safe
  final class Network: @unchecked Sendable {  // the handle is used under the lock only
    enum Engine {
      case openCV
      case onnxRuntime
    }

    let inputs: [TensorShape]
    /// The names of the outputs.
    let outputs: [String]
    private let engine: Engine
    private let handle: OpaquePointer
    // Copies of a model share the network, which only one thread at a time may use.
    private let lock = Mutex(())

    /// Takes over a handle.
    init(
      _ engine: Engine, _ handle: OpaquePointer, inputs: [TensorShape], outputs: [String]
    ) {
      self.engine = engine
      unsafe self.handle = handle
      self.inputs = inputs
      self.outputs = outputs
    }

    deinit {
      switch self.engine {
      case .openCV: unsafe cvision_net_close(self.handle)
      case .onnxRuntime: unsafe cvision_session_close(self.handle)
      }
    }

    /// The bytes of the intermediate results of a run and its floating-point operations. ONNX
    /// Runtime does not state them.
    func cost() throws(VisionError) -> (bytes: Int64, operations: Int64)? {
      guard self.engine == .openCV else { return nil }
      var bytes: Int64 = 0
      var operations: Int64 = 0
      let result = self.lock.withLock { _ in
        unsafe Self.withTensors(self.inputs, nil) { tensors in
          unsafe cvision_net_cost(
            self.handle, tensors.baseAddress, Int32(tensors.count), &bytes, &operations)
        }
      }
      guard result == 0 else { throw VisionError(.unsupported, VisionError.lastFailure) }
      return (bytes, operations)
    }

    func run(_ inputs: [Tensor]) throws(VisionError) -> [Tensor] {
      guard inputs.map(\.dimensions) == self.inputs.map(\.dimensions) else {
        throw VisionError(
          .failed,
          "the inputs are \(inputs.map(\.dimensions)); they must be "
            + "\(self.inputs.map(\.dimensions))"
        )
      }
      return try self.lock.withLock { _ throws(VisionError) in try self.runAlone(inputs) }
    }

    private func runAlone(_ inputs: [Tensor]) throws(VisionError) -> [Tensor] {
      let result = unsafe Self.withTensors(self.inputs, inputs) { tensors in
        unsafe Self.withNames(self.outputs[...], []) { names in
          switch self.engine {
          case .openCV:
            unsafe cvision_net_run(
              self.handle, tensors.baseAddress, Int32(tensors.count), names, Int32(names.count))
          case .onnxRuntime:
            unsafe cvision_session_run(
              self.handle, tensors.baseAddress, Int32(tensors.count), names, Int32(names.count))
          }
        }
      }
      guard result == 0 else { throw VisionError(.failed, VisionError.lastFailure) }

      var outputs: [Tensor] = []
      for index in self.outputs.indices {
        var tensor = unsafe cvision_tensor()
        let result =
          switch self.engine {
          case .openCV: unsafe cvision_net_output(self.handle, Int32(index), &tensor)
          case .onnxRuntime: unsafe cvision_session_output(self.handle, Int32(index), &tensor)
          }
        guard result == 0 else { throw VisionError(.failed, VisionError.lastFailure) }
        let dimensions = unsafe withUnsafeBytes(of: tensor.dimensions) {
          unsafe Array($0.bindMemory(to: Int64.self).prefix(Int(tensor.rank))).map(Int.init)
        }
        let values = unsafe UnsafeBufferPointer(
          start: tensor.values, count: dimensions.reduce(1, *))
        outputs.append(Tensor(dimensions: dimensions, values: unsafe Array(values)))
      }
      return outputs
    }

    // MARK: Arguments of C functions

    /// Calls a function with tensors that are valid during the call.
    ///
    /// - Parameter values: `nil` leaves the values out, where only the shapes count.
    private static func withTensors(
      _ shapes: [TensorShape], _ values: [Tensor]?,
      _ body: (UnsafeBufferPointer<cvision_tensor>) -> Int32
    ) -> Int32 {
      var tensors: [cvision_tensor] = unsafe []
      func add(_ index: Int) -> Int32 {
        guard index < shapes.count else { return unsafe tensors.withUnsafeBufferPointer(body) }
        return unsafe shapes[index].name.withCString { name in
          var tensor = unsafe cvision_tensor()
          unsafe tensor.name = name
          unsafe tensor.rank = Int32(shapes[index].dimensions.count)
          unsafe withUnsafeMutableBytes(of: &tensor.dimensions) { bytes in
            let dimensions = unsafe bytes.bindMemory(to: Int64.self)
            for (place, dimension) in shapes[index].dimensions.enumerated() {
              unsafe dimensions[place] = Int64(dimension)
            }
          }
          guard let values else {
            unsafe tensors.append(tensor)
            return add(index + 1)
          }
          return unsafe values[index].values.withUnsafeBufferPointer { buffer in
            unsafe tensor.values = buffer.baseAddress
            unsafe tensors.append(tensor)
            return add(index + 1)
          }
        }
      }
      return add(0)
    }

    /// Calls a function with C strings that are valid during the call.
    private static func withNames(
      _ names: ArraySlice<String>, _ pointers: [UnsafePointer<CChar>?],
      _ body: ([UnsafePointer<CChar>?]) -> Int32
    ) -> Int32 {
      guard let first = names.first else { return unsafe body(pointers) }
      return unsafe first.withCString { pointer in
        unsafe Self.withNames(names.dropFirst(), pointers + [pointer], body)
      }
    }
  }

  /// A model that a ``Network`` runs.
  struct NetworkModel: LoadedModel {
    let inputs: [TensorShape]
    let outputs: [TensorShape]
    private let network: Network

    /// Runs the network once with zeros.
    ///
    /// - Throws: ``VisionError`` if the run fails or exceeds the limits, or if its outputs differ
    ///   from the outputs in the file.
    init(_ network: Network, _ model: ModelFile) throws(VisionError) {
      if let cost = try network.cost() {
        guard cost.bytes <= model.limits.workingBytes else {
          throw VisionError(
            .limitExceeded,
            "a run takes \(cost.bytes) bytes; the limit is \(model.limits.workingBytes)")
        }
        guard cost.operations <= model.limits.operations else {
          throw VisionError(
            .limitExceeded,
            "a run takes \(cost.operations) operations; the limit is \(model.limits.operations)")
        }
      }
      let results = try network.run(network.inputs.map { Tensor($0) })
      var outputs: [TensorShape] = []
      for (port, result) in zip(model.graph.outputs, results) {
        // OpenCV adds a dimension of 1 to vectors. The values and their order are the same.
        let stated = port.dimensions.compactMap { $0 }
        let count = stated.reduce(1, *)
        guard !port.isFixed || count == result.values.count else {
          throw VisionError(
            .unsupported,
            "the output \(port.description) has \(result.values.count) values: export with fixed "
              + "sizes"
          )
        }
        outputs.append(
          TensorShape(name: port.name, dimensions: port.isFixed ? stated : result.dimensions))
      }
      self.network = network
      self.inputs = network.inputs
      self.outputs = outputs
    }

    func run(_ inputs: [Tensor]) throws -> [Tensor] {
      let results = try self.network.run(inputs)
      return try zip(self.outputs, results).map { shape, result in
        guard result.values.count == shape.count else {
          throw VisionError(
            .failed, "the output \(shape) has \(result.values.count) values")
        }
        return Tensor(dimensions: shape.dimensions, values: result.values)
      }
    }
  }
#endif
