import SidelightKernels
import SidelightScene

/// Decodes BlazeFace (Bazarevsky et al. 2019), as MediaPipe feeds it.
///
/// The anchors are the centres of the cells of square grids, row by row, `count` per cell. An
/// anchor has 16 numbers, in pixels of the input: the centre of the box relative to the anchor, its
/// width and height, and six points relative to the anchor: left eye, right eye, nose, mouth, left
/// ear and right ear of the picture. The score is the logistic function of a further number.
/// Candidates that overlap are averaged.
package struct BlazeFaceDecoder: FaceDecoder {
  private let boxes: Int
  private let scores: Int
  private let anchors: [PicturePoint]
  private let threshold: Double
  private let overlap: Double

  package init(
    _ faces: ModelDescription.Faces, _ input: ModelDescription.Input, outputs: [TensorShape]
  ) throws(VisionError) {
    let grids =
      faces.anchors.isEmpty ? ModelConvention.blazeFaceAnchors(outputs) ?? [] : faces.anchors
    guard !grids.isEmpty, grids.count <= 8,
      grids.allSatisfy({
        $0.count == 2 && (1 ... 256).contains($0[0]) && (1 ... 16).contains($0[1])
      })
    else {
      throw VisionError(
        .invalidDescription,
        "faces.anchors must list the cells to a side (1 to 256) and the anchors to a cell "
          + "(1 to 16) of 1 to 8 grids")
    }
    var anchors: [PicturePoint] = []
    for grid in grids {
      let cells = Double(grid[0])
      for cell in 0 ..< grid[0] * grid[0] {
        let center = PicturePoint(
          x: (Double(cell % grid[0]) + 0.5) / cells * Double(input.width),
          y: (Double(cell / grid[0]) + 0.5) / cells * Double(input.height))
        anchors += [PicturePoint](repeating: center, count: grid[1])
      }
    }
    self.boxes = try outputIndex(.blazeFace, rows: anchors.count, columns: 16, in: outputs)
    self.scores = try outputIndex(.blazeFace, rows: anchors.count, columns: 1, in: outputs)
    self.anchors = anchors
    self.threshold = faces.threshold
    self.overlap = faces.overlap
  }

  package func faces(_ outputs: [Tensor]) -> [FaceCandidate] {
    let boxes = outputs[self.boxes].values
    let scores = outputs[self.scores].values
    let candidates = self.anchors.indices.compactMap { index -> FaceCandidate? in
      let confidence = logistic(scores[index])
      guard confidence >= self.threshold else { return nil }
      let anchor = self.anchors[index]
      let start = 16 * index
      func at(_ place: Int) -> PicturePoint {
        PicturePoint(
          x: anchor.x + Double(boxes[start + place]), y: anchor.y + Double(boxes[start + place + 1])
        )
      }
      let center = at(0)
      let width = Double(boxes[start + 2])
      let height = Double(boxes[start + 3])
      return FaceCandidate(
        confidence: confidence, x: center.x - width / 2, y: center.y - height / 2, width: width,
        height: height,
        landmarks: FaceLandmarks(leftEye: at(4), rightEye: at(6), mouth: at(10)))
    }
    return FaceSuppression.weighted(candidates.filter(\.isValid), overlap: self.overlap)
  }
}
