import SidelightKernels
public import SidelightScene

/// Finds faces using a model that the operator configured.
public struct ModelFaceFinder: FaceFinder {
  private let model: VisionModel
  private let decoder: any FaceDecoder
  private let sampler: PictureSampler

  /// Creates a finder.
  ///
  /// - Throws: ``VisionError`` if the model is not one for faces.
  public init(_ model: VisionModel) throws(VisionError) {
    guard case .faces(let faces) = model.description.output else {
      throw VisionError(
        .invalidDescription, "model \(model.name) is for \(model.description.task), not for faces")
    }
    self.model = model
    self.decoder = try makeFaceDecoder(faces, model.description.input, outputs: model.outputs)
    self.sampler = PictureSampler(model.description.input)
  }

  /// The number of pixels of the model's input.
  var inputArea: Int {
    self.model.description.input.width * self.model.description.input.height
  }

  /// Models are trained on colour. In grey pictures they find fewer faces.
  public var needsColor: Bool { true }

  /// Whether a search of a whole picture takes several square parts of it. A model with a small
  /// input misses faces below a fifth of the height otherwise.
  private var searchesTiles: Bool {
    min(self.model.description.input.width, self.model.description.input.height) < 160
  }

  /// Returns the faces of a picture, as if it were in grey colours.
  public func faces(in picture: LumaPicture) throws -> [DetectedFace] {
    try self.faces(in: picture, color: nil, search: FaceSearch())
  }

  /// Returns the faces that a search includes. The effort does not matter.
  public func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) throws -> [DetectedFace] {
    let color = color ?? Self.gray(picture)
    var found: [DetectedFace] = []
    for transform in self.windows(search, width: color.width, height: color.height) {
      found += try self.faces(in: color, transform)
    }
    // Tiles overlap: a face can be found in two.
    var kept: [DetectedFace] = []
    for face in found.sorted(by: { $0.confidence > $1.confidence }) {
      let isKnown = kept.contains { other in
        let x = other.center.x - face.center.x
        let y = other.center.y - face.center.y
        return x * x + y * y < other.size * other.size / 4
      }
      if !isKnown { kept.append(face) }
    }
    return kept.filter(search.includes)
  }

  private func faces(
    in picture: ColorPicture, _ transform: SimilarityTransform
  ) throws -> [DetectedFace] {
    let outputs = try self.model.run([self.sampler.window(picture, transform)])
    return self.decoder.faces(outputs).compactMap { candidate in
      if let landmarks = candidate.landmarks {
        return CanonicalFace.face(
          FaceLandmarks(
            leftEye: transform(landmarks.leftEye),
            rightEye: transform(landmarks.rightEye),
            mouth: transform(landmarks.mouth)),
          confidence: candidate.confidence)
      }
      return CanonicalFace.face(
        center: transform(
          PicturePoint(
            x: candidate.x + candidate.width / 2, y: candidate.y + candidate.height / 2)),
        width: candidate.width * transform.scale, height: candidate.height * transform.scale,
        roll: transform.rotation, confidence: candidate.confidence)
    }
  }

  /// Returns the parts of the picture that become inputs of the model.
  private func windows(
    _ search: FaceSearch, width: Int, height: Int
  ) -> [SimilarityTransform] {
    if let window = search.window {
      return [self.sampler.letterbox(window, angle: search.angle)]
    }
    let side = Double(min(width, height))
    let rest = Double(max(width, height)) - side
    guard self.searchesTiles, rest > side / 4 else {
      return [self.sampler.letterbox(width: width, height: height, angle: search.angle)]
    }
    return (0 ... 2).map { index in
      let along = side / 2 + rest * Double(index) / 2
      let center =
        width > height
        ? PicturePoint(x: along, y: side / 2) : PicturePoint(x: side / 2, y: along)
      return self.sampler.letterbox(
        FaceSearch.Window(center: center, side: side), angle: search.angle)
    }
  }

  private static func gray(_ picture: LumaPicture) -> ColorPicture {
    ColorPicture(
      width: picture.width, height: picture.height,
      samples: picture.samples.flatMap { [$0, $0, $0] })
  }
}
