import SidelightKernels
public import SidelightScene

/// Locates the eyes and the mouth of a known face with a model that the operator configured.
public struct FaceLandmarkModel: Sendable {
  // Points of MediaPipe's mesh: the corners of both eyes, and the middle of both lips.
  private static let leftEye = [33, 133]
  private static let rightEye = [362, 263]
  private static let mouth = [13, 14]

  /// The side of the window in sides of the canonical box. The result hardly depends on it between
  /// 1.4 and 1.8.
  private static let windowShare = 1.5
  private static let threshold = 0.5

  private let model: VisionModel
  private let points: Int
  private let presence: Int
  private let sampler: PictureSampler

  /// Creates a model of landmarks.
  ///
  /// - Throws: ``VisionError`` if the model is not one for landmarks.
  public init(_ model: VisionModel) throws(VisionError) {
    guard case .landmarks(let landmarks) = model.description.output,
      let points = model.outputs.firstIndex(where: { $0.name == landmarks.points }),
      let presence = model.outputs.firstIndex(where: { $0.name == landmarks.presence })
    else {
      throw VisionError(
        .invalidDescription,
        "model \(model.name) is for \(model.description.task), not for landmarks")
    }
    self.model = model
    self.points = points
    self.presence = presence
    self.sampler = PictureSampler(model.description.input)
  }

  /// Returns the face with its landmarks, and the position, size and roll that follow from them.
  ///
  /// - Parameters:
  ///   - face: The face. Its roll should be right to about 20 degrees.
  ///   - picture: The picture that shows it.
  /// - Returns: `nil` if the model doesn't find a face there.
  /// - Throws: ``VisionError`` if the model fails.
  public func locate(
    _ face: DetectedFace, in picture: ColorPicture
  ) throws -> DetectedFace? {
    let window = FaceSearch.Window(center: face.center, side: Self.windowShare * face.size)
    let transform = self.sampler.letterbox(window, angle: face.roll)
    let outputs = try self.model.run([self.sampler.window(picture, transform)])
    let confidence = logistic(outputs[self.presence].values[0])
    guard confidence >= Self.threshold else { return nil }
    let values = outputs[self.points].values
    func mean(_ indices: [Int]) -> PicturePoint {
      func average(_ axis: Int) -> Double {
        indices.reduce(0) { $0 + Double(values[3 * $1 + axis]) } / Double(indices.count)
      }
      return transform(PicturePoint(x: average(0), y: average(1)))
    }
    let landmarks = FaceLandmarks(
      leftEye: mean(Self.leftEye), rightEye: mean(Self.rightEye), mouth: mean(Self.mouth))
    let numbers = [landmarks.leftEye, landmarks.rightEye, landmarks.mouth].flatMap { [$0.x, $0.y] }
    guard numbers.allSatisfy({ abs($0) < 1e6 }) else { return nil }
    return CanonicalFace.face(landmarks, confidence: confidence)
  }
}
