import Foundation
import SidelightKernels
package import SidelightScene

/// Reads the faces out of the outputs of a model.
package protocol FaceDecoder: Sendable {
  /// Returns the faces above the threshold, one per face.
  ///
  /// - Parameter outputs: The outputs, in the order and with the shapes that the decoder was
  ///   created with.
  func faces(_ outputs: [Tensor]) -> [FaceCandidate]
}

/// Creates the decoder for a model.
///
/// - Throws: ``VisionError`` if the outputs do not have the shapes of the encoding.
package func makeFaceDecoder(
  _ faces: ModelDescription.Faces, _ input: ModelDescription.Input, outputs: [TensorShape]
) throws(VisionError) -> any FaceDecoder {
  switch faces.encoding {
  case .blazeFace: try BlazeFaceDecoder(faces, input, outputs: outputs)
  case .yuNet: try YuNetDecoder(faces, input, outputs: outputs)
  case .scrfd: try SCRFDDecoder(faces, input, outputs: outputs)
  case .ultraFace: try UltraFaceDecoder(faces, input, outputs: outputs)
  }
}

/// Returns the index of the output with a number of rows and columns.
///
/// - Throws: ``VisionError`` with code `invalidDescription` that names the encoding.
func outputIndex(
  _ encoding: ModelDescription.FaceEncoding, rows: Int, columns: Int, named name: String? = nil,
  in outputs: [TensorShape]
) throws(VisionError) -> Int {
  let index = outputs.firstIndex {
    ($0.dimensions.last ?? 0) == columns && $0.count == rows * columns
      && (name == nil || $0.name == name)
  }
  if let index { return index }
  throw VisionError(
    .invalidDescription,
    "faces.encoding \(encoding.rawValue) needs an output \(name.map { "\($0) " } ?? "")of "
      + "\(rows)x\(columns); the model has "
      + outputs.prefix(16).map(\.description).joined(separator: ", ")
  )
}

/// The logistic function of a number of any size.
func logistic(_ value: Float) -> Double { 1 / (1 + exp(-Double(max(-100, min(100, value))))) }

/// A face as reported by a model, in pixels of the model's input.
package struct FaceCandidate: Sendable, Hashable {
  package var confidence: Double
  /// The corner at the top left of the model's own box.
  package var x: Double
  package var y: Double
  package var width: Double
  package var height: Double
  /// The left eye and the right eye of the picture, and the mouth, if the model locates them.
  package var landmarks: FaceLandmarks?

  /// Whether the box has an extent and all numbers are finite. Models can return arbitrary numbers.
  package var isValid: Bool {
    let points = self.landmarks.map { [$0.leftEye, $0.rightEye, $0.mouth] } ?? []
    return self.width > 0 && self.height > 0
      && ([self.confidence, self.x, self.y, self.width, self.height]
        + points.flatMap { [$0.x, $0.y] })
        .allSatisfy { abs($0) < 1e6 }
  }

  /// The intersection of two boxes, divided by their union.
  func overlap(_ other: FaceCandidate) -> Double {
    let width = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
    let height = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
    guard width > 0, height > 0 else { return 0 }
    let both = width * height
    return both / (self.width * self.height + other.width * other.height - both)
  }
}

/// The choice of one candidate per face.
enum FaceSuppression {
  /// The maximum number of compared candidates. A model returns more only for inputs that aren't
  /// pictures.
  private static let limit = 512

  /// Keeps the most confident of overlapping candidates.
  static func greedy(_ candidates: [FaceCandidate], overlap: Double) -> [FaceCandidate] {
    self.groups(candidates, overlap: overlap).map { $0[0] }
  }

  /// Replaces overlapping candidates by their mean, weighted by confidence, with the maximum
  /// confidence.
  static func weighted(_ candidates: [FaceCandidate], overlap: Double) -> [FaceCandidate] {
    self.groups(candidates, overlap: overlap).map { group in
      let total = group.reduce(0) { $0 + $1.confidence }
      guard group.count > 1, total > 0 else { return group[0] }
      func mean(_ value: (FaceCandidate) -> Double) -> Double {
        group.reduce(0) { $0 + $1.confidence * value($1) } / total
      }
      func mean(_ point: (FaceLandmarks) -> PicturePoint) -> PicturePoint {
        PicturePoint(
          x: mean { $0.landmarks.map { point($0).x } ?? 0 },
          y: mean { $0.landmarks.map { point($0).y } ?? 0 })
      }
      let hasLandmarks = group.allSatisfy { $0.landmarks != nil }
      return FaceCandidate(
        confidence: group[0].confidence, x: mean(\.x), y: mean(\.y), width: mean(\.width),
        height: mean(\.height),
        landmarks: hasLandmarks
          ? FaceLandmarks(
            leftEye: mean(\.leftEye), rightEye: mean(\.rightEye), mouth: mean(\.mouth)) : nil)
    }
  }

  /// Groups of candidates that overlap the first and most confident candidate of their group.
  private static func groups(
    _ candidates: [FaceCandidate], overlap: Double
  ) -> [[FaceCandidate]] {
    var rest = candidates.sorted { $0.confidence > $1.confidence }.prefix(self.limit)[...]
    var groups: [[FaceCandidate]] = []
    while let first = rest.popFirst() {
      groups.append([first] + rest.filter { $0.overlap(first) > overlap })
      rest.removeAll { $0.overlap(first) > overlap }
    }
    return groups
  }
}
