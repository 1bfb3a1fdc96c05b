/// Recognizes models by using the names and shapes of their inputs and outputs.
///
/// | model | recognized by |
/// |---|---|
/// | MediaPipe selfie segmentation | input 1xHxWx3, output 1xHxWx1 or x2 |
/// | MediaPipe selfie multiclass | input 1xHxWx3, output 1xHxWx6 |
/// | MODNet | input 1x3xHxW, output 1x1xHxW |
/// | PP-HumanSeg | input 1x3xHxW, output 1x2xHxW |
/// | Robust Video Matting | inputs `src` and `r1i` to `r4i`, outputs `pha` and `r1o` to `r4o` |
/// | BlazeFace | outputs 1xNx16 and 1xNx1, N 896 or 2304 |
/// | YuNet 2023mar | outputs `cls_8` to `kps_32` |
/// | SCRFD | for every stride of 8, 16 and 32: outputs of 1, 4 and 10 values |
/// | UltraFace | outputs 1xNx2 and 1xNx4 |
/// | MediaPipe face mesh | an output of 1404 values and one of 1 |
struct ModelConvention {
  let task: ModelTask
  let inputs: [TensorShape]
  let outputs: [TensorShape]

  /// Returns the description of a model; `nil` if it doesn't fit a convention.
  func description() -> ModelDescription? {
    guard let picture = Self.picture(self.inputs) else { return nil }
    switch self.task {
    case .matte: return self.recurrentMatte(picture) ?? self.matte(picture)
    case .faces: return self.faces(picture)
    case .landmarks: return self.landmarks(picture)
    }
  }

  /// Returns the input that takes the picture: the first with three channels.
  static func picture(_ inputs: [TensorShape]) -> ModelDescription.Input? {
    for shape in inputs where shape.dimensions.count == 4 && shape.dimensions[0] == 1 {
      let (one, two, three) = (shape.dimensions[1], shape.dimensions[2], shape.dimensions[3])
      if one == 3 {
        return ModelDescription.Input(
          name: shape.name, layout: .nchw, width: three, height: two, fit: .stretch)
      }
      if three == 3 {
        return ModelDescription.Input(
          name: shape.name, layout: .nhwc, width: two, height: one, fit: .stretch)
      }
    }
    return nil
  }

  /// The number of channels of an output that is as large as the input, in either layout.
  static func channels(_ shape: TensorShape, of layout: ModelDescription.Layout) -> Int? {
    switch (shape.dimensions.count, layout) {
    case (4, .nchw): shape.dimensions[1]
    case (4, .nhwc): shape.dimensions[3]
    case (3, _) where shape.dimensions[0] == 1: 1
    case (2, _): 1
    default: nil
    }
  }

  // MARK: Mattes

  private func matte(_ picture: ModelDescription.Input) -> ModelDescription? {
    guard self.inputs.count == 1, self.outputs.count == 1,
      let channels = Self.channels(self.outputs[0], of: picture.layout)
    else { return nil }
    var input = picture
    var matte = ModelDescription.Matte(name: self.outputs[0].name)
    switch (picture.layout, channels) {
    case (.nhwc, 1): break
    case (.nhwc, 2): matte.channel = 1
    case (.nhwc, 6):
      matte.activation = .softmax
      matte.isInverted = true
    case (.nchw, 1), (.nchw, 2):
      input.scale = [Double](repeating: 1 / 127.5, count: 3)
      input.mean = [Double](repeating: 127.5, count: 3)
      matte.channel = channels - 1
    default: return nil
    }
    return ModelDescription(input: input, output: .matte(matte))
  }

  private func recurrentMatte(_ picture: ModelDescription.Input) -> ModelDescription? {
    let states = (1 ... 4).map { ModelDescription.State(input: "r\($0)i", output: "r\($0)o") }
    let inputs = Set(self.inputs.map(\.name))
    let outputs = Set(self.outputs.map(\.name))
    guard picture.name == "src", outputs.contains("pha"),
      states.allSatisfy({ inputs.contains($0.input) && outputs.contains($0.output) })
    else { return nil }
    var description = ModelDescription(
      input: picture, output: .matte(ModelDescription.Matte(name: "pha")), states: states)
    if inputs.contains("downsample_ratio") {
      // The network works at this part of the picture's size, which the exporters give for HD.
      // Pictures here are small already.
      description.constants["downsample_ratio"] = 1
    }
    return description
  }

  // MARK: Faces

  private func faces(_ picture: ModelDescription.Input) -> ModelDescription? {
    guard self.inputs.count == 1 else { return nil }
    var input = picture
    input.fit = .letterbox
    let counts = self.outputs.map { $0.dimensions.last ?? 0 }.sorted()
    let names = Set(self.outputs.map(\.name))

    func description(
      scale: Double, mean: Double, order: ModelDescription.ChannelOrder = .rgb,
      _ faces: ModelDescription.Faces
    ) -> ModelDescription {
      input.scale = [Double](repeating: scale, count: 3)
      input.mean = [Double](repeating: mean, count: 3)
      input.order = order
      return ModelDescription(input: input, output: .faces(faces))
    }

    if ["cls", "obj", "bbox", "kps"].allSatisfy({ kind in
      [8, 16, 32].allSatisfy { names.contains("\(kind)_\($0)") }
    }) {
      return description(
        scale: 1, mean: 0, order: .bgr, ModelDescription.Faces(encoding: .yuNet, threshold: 0.6))
    }
    if counts == [1, 1, 1, 4, 4, 4, 10, 10, 10] {
      return description(
        scale: 1.0 / 128, mean: 127.5, ModelDescription.Faces(encoding: .scrfd))
    }
    if counts == [2, 4] {
      return description(
        scale: 1.0 / 128, mean: 127,
        ModelDescription.Faces(encoding: .ultraFace, threshold: 0.7))
    }
    if counts == [1, 16], let anchors = Self.blazeFaceAnchors(self.outputs) {
      return description(
        scale: 1 / 127.5, mean: 127.5,
        ModelDescription.Faces(encoding: .blazeFace, anchors: anchors))
    }
    return nil
  }

  // MARK: Landmarks

  private func landmarks(_ picture: ModelDescription.Input) -> ModelDescription? {
    guard self.inputs.count == 1,
      let points = self.outputs.first(where: { $0.count == ModelDescription.Landmarks.valueCount }),
      let presence = self.outputs.first(where: { $0.count == 1 })
    else { return nil }
    return ModelDescription(
      input: picture,
      output: .landmarks(
        ModelDescription.Landmarks(points: points.name, presence: presence.name)))
  }

  /// Returns the grids of BlazeFace by the number of anchors: short range or full range.
  static func blazeFaceAnchors(_ outputs: [TensorShape]) -> [[Int]]? {
    switch outputs.first(where: { $0.dimensions.last == 16 })?.dimensions.dropLast().last {
    case 896: [[16, 2], [8, 6]]
    case 2304: [[48, 1]]
    default: nil
    }
  }
}
