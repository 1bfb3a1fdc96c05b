/// Decodes Ultra-Light-Fast-Generic-Face-Detector, which applies its anchors itself.
///
/// A row of one output has the probabilities of background and face, the same row of the other the
/// left, top, right and bottom of the box, as parts of the input's sides.
package struct UltraFaceDecoder: FaceDecoder {
  private let scores: Int
  private let boxes: Int
  private let width: Double
  private let height: Double
  private let threshold: Double
  private let overlap: Double

  package init(
    _ faces: ModelDescription.Faces, _ input: ModelDescription.Input, outputs: [TensorShape]
  ) throws(VisionError) {
    let count = (outputs.first { $0.dimensions.last == 4 }?.count ?? 4) / 4
    self.scores = try outputIndex(.ultraFace, rows: count, columns: 2, in: outputs)
    self.boxes = try outputIndex(.ultraFace, rows: count, columns: 4, in: outputs)
    self.width = Double(input.width)
    self.height = Double(input.height)
    self.threshold = faces.threshold
    self.overlap = faces.overlap
  }

  package func faces(_ outputs: [Tensor]) -> [FaceCandidate] {
    let scores = outputs[self.scores].values
    let boxes = outputs[self.boxes].values
    let candidates = (0 ..< scores.count / 2).compactMap { index -> FaceCandidate? in
      let confidence = Double(scores[2 * index + 1])
      guard confidence >= self.threshold else { return nil }
      let left = Double(boxes[4 * index]) * self.width
      let top = Double(boxes[4 * index + 1]) * self.height
      return FaceCandidate(
        confidence: min(1, confidence), x: left, y: top,
        width: Double(boxes[4 * index + 2]) * self.width - left,
        height: Double(boxes[4 * index + 3]) * self.height - top)
    }
    return FaceSuppression.greedy(candidates.filter(\.isValid), overlap: self.overlap)
  }
}
