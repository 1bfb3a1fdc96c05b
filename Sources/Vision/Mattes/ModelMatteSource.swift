import Foundation
public import SidelightScene

/// Mattes from a model that the operator configured.
public struct ModelMatteSource: MatteSource {
  private let model: VisionModel
  private let matte: ModelDescription.Matte
  private let sampler: PictureSampler
  // The outputs of the last run that are inputs of the next one, by the names of the inputs.
  private var states: [String: Tensor] = [:]

  /// Creates a source.
  ///
  /// - Throws: ``VisionError`` if the model is not one for mattes.
  public init(_ model: VisionModel) throws(VisionError) {
    guard case .matte(let matte) = model.description.output else {
      throw VisionError(
        .invalidDescription, "model \(model.name) is for \(model.description.task), not for mattes")
    }
    self.model = model
    self.matte = matte
    self.sampler = PictureSampler(model.description.input)
  }

  /// Returns the matte of a picture, at the resolution of the model.
  ///
  /// It is unsure if it leaves out a known face.
  public mutating func matte(
    of picture: ColorPicture, faces: [DetectedFace]
  ) throws -> MatteEstimate {
    let description = self.model.description
    let isStretched = description.input.fit == .stretch
    let window = self.sampler.letterbox(width: picture.width, height: picture.height)
    let tensor =
      isStretched ? self.sampler.stretched(picture) : self.sampler.window(picture, window)
    let inputs = self.model.inputs.map { shape in
      if shape.name == description.input.name { return tensor }
      if let constant = description.constants[shape.name] {
        return Tensor(shape, repeating: Float(constant))
      }
      return self.states[shape.name] ?? Tensor(shape)
    }
    let results = try self.model.run(inputs)
    let outputs = Dictionary(zip(self.model.outputs.map(\.name), results)) { first, _ in first }
    for state in description.states { self.states[state.input] = outputs[state.output] }
    guard let output = outputs[self.matte.name] else {
      throw self.model.failure("there is no output \(self.matte.name)")
    }

    let size = try ModelDescription.matteSize(
      self.matte, output.dimensions, description.input.layout)
    var values = self.probabilities(output.values, size.channels, description.input.layout)
    guard values.allSatisfy(\.isFinite) else {
      self.states = [:]
      throw self.model.failure("the output \(self.matte.name) is not finite")
    }
    var (width, height) = (size.width, size.height)
    if !isStretched {
      // The picture covers only a part of the input.
      let share = (
        x: Double(picture.width) / window.scale / Double(description.input.width),
        y: Double(picture.height) / window.scale / Double(description.input.height)
      )
      let covered = (
        width: max(1, min(width, Int((Double(width) * share.x).rounded()))),
        height: max(1, min(height, Int((Double(height) * share.y).rounded())))
      )
      values = (0 ..< covered.height).flatMap { row in
        values[row * width ..< row * width + covered.width]
      }
      (width, height) = covered
    }
    return MatteEstimate(width: width, height: height, values: values, faces: faces, of: picture)
  }

  /// Returns the probability of a person at every position.
  private func probabilities(
    _ values: [Float], _ channels: Int, _ layout: ModelDescription.Layout
  ) -> [Float] {
    let area = values.count / channels
    let (pixel, channel) = layout == .nchw ? (1, area) : (channels, 1)
    return (0 ..< area).map { index in
      let value = values[index * pixel + self.matte.channel * channel]
      var result: Float
      switch self.matte.activation {
      case .none: result = value
      case .sigmoid: result = 1 / (1 + exp(-value))
      case .softmax:
        // Relative to this channel, to avoid dividing exponentials of large numbers.
        var sum: Float = 0
        for other in 0 ..< channels { sum += exp(values[index * pixel + other * channel] - value) }
        result = 1 / sum
      }
      guard result.isFinite else { return result }
      result = min(1, max(0, result))
      return self.matte.isInverted ? 1 - result : result
    }
  }
}
