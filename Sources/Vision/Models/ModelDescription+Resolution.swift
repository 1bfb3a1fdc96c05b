extension ModelDescription {
  /// Combines the convention that a model follows with the file next to it, and checks the result
  /// against the model.
  ///
  /// - Throws: ``VisionError`` with code `unknownConvention` if the convention and the file don't
  ///   describe the use of the model, and `invalidDescription` if the file contradicts it.
  package static func resolve(
    _ task: ModelTask, inputs: [TensorShape], outputs: [TensorShape], file: ModelDescriptionFile?
  ) throws(VisionError) -> ModelDescription {
    if let stated = file?.task, stated != task {
      throw VisionError(
        .invalidDescription, "task is \(stated.rawValue); the configuration says \(task.rawValue)")
    }
    let known = ModelConvention(task: task, inputs: inputs, outputs: outputs).description()
    guard
      var description = known ?? Self.generic(task, inputs: inputs, outputs: outputs, file: file)
    else {
      throw VisionError(
        .unknownConvention,
        "no known convention for \(task.rawValue) has the inputs \(Self.list(inputs)) and the "
          + "outputs \(Self.list(outputs)): describe it in a .json file of the same name next to it"
      )
    }
    if let file { try description.apply(file) }
    try description.check(inputs: inputs, outputs: outputs)
    return description
  }

  private static func list(_ shapes: [TensorShape]) -> String {
    "[\(shapes.prefix(16).map(\.description).joined(separator: ", "))]"
  }

  /// Returns the description that a file completes, for a model of unknown shapes.
  private static func generic(
    _ task: ModelTask, inputs: [TensorShape], outputs: [TensorShape], file: ModelDescriptionFile?
  ) -> ModelDescription? {
    guard let file, var input = ModelConvention.picture(inputs) else { return nil }
    switch task {
    case .matte:
      guard let name = file.output?.name ?? (outputs.count == 1 ? outputs[0].name : nil) else {
        return nil
      }
      return ModelDescription(input: input, output: .matte(Matte(name: name)))
    case .faces:
      guard let encoding = file.faces?.encoding else { return nil }
      input.fit = .letterbox
      return ModelDescription(input: input, output: .faces(Faces(encoding: encoding)))
    case .landmarks:
      return nil
    }
  }

  private mutating func apply(_ file: ModelDescriptionFile) throws(VisionError) {
    if let input = file.input {
      self.input.name = input.name ?? self.input.name
      self.input.layout = input.layout ?? self.input.layout
      self.input.width = input.width ?? self.input.width
      self.input.height = input.height ?? self.input.height
      self.input.order = input.order ?? self.input.order
      self.input.scale = input.scale?.values ?? self.input.scale
      self.input.mean = input.mean?.values ?? self.input.mean
      self.input.fit = input.fit ?? self.input.fit
    }
    switch self.output {
    case .matte(var matte):
      guard file.faces == nil else {
        throw VisionError(.invalidDescription, "faces is set; the task is matte")
      }
      matte.name = file.output?.name ?? matte.name
      matte.channel = file.output?.channel ?? matte.channel
      matte.activation = file.output?.activation ?? matte.activation
      matte.isInverted = file.output?.inverted ?? matte.isInverted
      self.output = .matte(matte)
    case .faces(var faces):
      guard file.output == nil else {
        throw VisionError(.invalidDescription, "output is set; the task is faces")
      }
      faces.encoding = file.faces?.encoding ?? faces.encoding
      faces.threshold = file.faces?.threshold ?? faces.threshold
      faces.overlap = file.faces?.overlap ?? faces.overlap
      faces.anchors = file.faces?.anchors ?? faces.anchors
      self.output = .faces(faces)
    case .landmarks:
      guard file.output == nil, file.faces == nil else {
        throw VisionError(
          .invalidDescription, "output or faces is set; the task is landmarks")
      }
    }
    if let states = file.states {
      self.states = states.map { State(input: $0.input, output: $0.output) }
    }
    if let constants = file.constants { self.constants = constants }
  }

  private func check(
    inputs: [TensorShape], outputs: [TensorShape]
  ) throws(VisionError) {
    func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(VisionError) {
      if !condition { throw VisionError(.invalidDescription, message()) }
    }
    func shape(_ name: String, in shapes: [TensorShape]) throws(VisionError) -> [Int] {
      if let shape = shapes.first(where: { $0.name == name }) { return shape.dimensions }
      throw VisionError(
        .invalidDescription, "there is no \(name); the model has \(Self.list(shapes))")
    }

    let expected =
      self.input.layout == .nchw
      ? [1, 3, self.input.height, self.input.width] : [1, self.input.height, self.input.width, 3]
    let actual = try shape(self.input.name, in: inputs)
    try require(
      actual == expected,
      "input \(self.input.name) is \(actual); layout \(self.input.layout.rawValue) with width "
        + "\(self.input.width) and height \(self.input.height) needs \(expected)"
    )
    try require(
      self.input.scale.count == 3 && self.input.mean.count == 3
        && self.input.scale.allSatisfy({ $0.isFinite && $0 != 0 })
        && self.input.mean.allSatisfy(\.isFinite),
      "input.scale and input.mean must be one or three finite numbers, and scale not 0")

    var fed: Set<String> = [self.input.name]
    for state in self.states {
      let from = try shape(state.output, in: outputs)
      let to = try shape(state.input, in: inputs)
      try require(from == to, "state \(state.input) is \(to), and \(state.output) is \(from)")
      fed.insert(state.input)
    }
    for (name, value) in self.constants {
      _ = try shape(name, in: inputs)
      try require(value.isFinite, "constant \(name) must be finite")
      fed.insert(name)
    }
    if let missing = inputs.first(where: { !fed.contains($0.name) }) {
      throw VisionError(
        .invalidDescription,
        "nothing says what the input \(missing) takes: name it in states or constants")
    }

    switch self.output {
    case .matte(let matte):
      let dimensions = try shape(matte.name, in: outputs)
      let channels = try Self.matteSize(matte, dimensions, self.input.layout).channels
      try require(
        (0 ..< channels).contains(matte.channel),
        "output.channel is \(matte.channel); the output \(matte.name) has \(channels) channels")
    case .faces(let faces):
      try require(
        (0 ... 1).contains(faces.threshold) && (0 ... 1).contains(faces.overlap),
        "faces.threshold and faces.overlap must be 0 to 1")
      _ = try makeFaceDecoder(faces, self.input, outputs: outputs)
    case .landmarks:
      break
    }
  }

  static func matteSize(
    _ matte: Matte, _ dimensions: [Int], _ layout: Layout
  ) throws(VisionError) -> (channels: Int, width: Int, height: Int) {
    switch dimensions.count {
    case 4 where dimensions[0] == 1 && layout == .nchw:
      return (dimensions[1], dimensions[3], dimensions[2])
    case 4 where dimensions[0] == 1:
      return (dimensions[3], dimensions[2], dimensions[1])
    case 3 where dimensions[0] == 1:
      return (1, dimensions[2], dimensions[1])
    case 2:
      return (1, dimensions[1], dimensions[0])
    default:
      throw VisionError(
        .invalidDescription,
        "the output \(matte.name) is \(dimensions); a matte has a width, a height and channels")
    }
  }
}
