import FuzzDriver
import SidelightKernels
import SidelightVision

// Reads an ONNX model and the JSON description next to it, as the server does when it starts,
// without running the model. The description comes first, after its length in two bytes. A
// description that is accepted must be usable with any values that the model may compute.

let limits: ModelLimits = {
  var limits = ModelLimits()
  limits.tensorValues = 1 << 14
  return limits
}()
let picture = ColorPicture(width: 5, height: 3, samples: (0 ..< 45).map { UInt8($0 * 5) })

/// Returns the shapes of inputs or outputs. A runtime chooses the sizes that the model leaves open.
func shapes(_ ports: [ONNXGraph.Port]) -> [TensorShape] {
  ports.map { port in
    TensorShape(name: port.name, dimensions: port.dimensions.map { $0 ?? 2 })
  }
}

/// Returns a tensor whose values have the bits of the file.
func tensor(_ shape: TensorShape, _ file: [UInt8]) -> Tensor {
  Tensor(
    dimensions: shape.dimensions,
    values: (0 ..< shape.count).map { index in
      Float(
        bitPattern: (0 ..< 4).reduce(0) { bits, byte in
          bits << 8 | UInt32(file[(4 * index + byte) % file.count])
        })
    })
}

func use(_ description: ModelDescription, _ outputs: [TensorShape], _ file: [UInt8]) {
  let sampler = PictureSampler(description.input)
  let count = 3 * description.input.width * description.input.height
  let whole = sampler.letterbox(width: picture.width, height: picture.height, angle: 0.5)
  precondition(sampler.stretched(picture).values.count == count)
  precondition(sampler.window(picture, whole).values.count == count)
  guard case .faces(let faces) = description.output else { return }
  guard let decoder = try? makeFaceDecoder(faces, description.input, outputs: outputs) else {
    preconditionFailure("the outputs of an accepted description have no decoder")
  }
  for face in decoder.faces(outputs.map { tensor($0, file) }) {
    precondition(face.isValid, "a face is not finite")
    if let landmarks = face.landmarks {
      _ = CanonicalFace.face(landmarks, confidence: face.confidence)
    }
  }
}

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  guard bytes.count >= 2 else { return }
  let count = Int(bytes[0]) | Int(bytes[1]) << 8
  let json = Array(bytes.dropFirst(2).prefix(count))
  guard
    let model = try? ModelFile(
      name: "m", path: "m.onnx", bytes: Array(bytes.dropFirst(2 + count)), limits: limits)
  else { return }
  let (inputs, outputs) = (shapes(model.graph.inputs), shapes(model.graph.outputs))
  precondition(!inputs.isEmpty && !outputs.isEmpty, "a model has no inputs or no outputs")
  let description = json.isEmpty ? nil : try? ModelDescriptionFile.parse(json, model)
  for task in ModelTask.allCases {
    guard
      let resolved = try? ModelDescription.resolve(
        task, inputs: inputs, outputs: outputs, file: description)
    else { continue }
    precondition(resolved.task == task, "a description has another task")
    use(resolved, outputs, model.bytes)
  }
}
