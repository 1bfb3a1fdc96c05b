import SidelightKernels
import SidelightScene

/// Decodes SCRFD (Guo et al. 2021) with points, as InsightFace exports it.
///
/// For every stride `s` of 8, 16 and 32, and every cell of that size, row by row, there are two
/// anchors at the cell's top left corner. An anchor has a confidence, the distances to the left,
/// top, right and bottom of the box in strides, and five points relative to the anchor in strides:
/// left eye, right eye, nose, and the corners of the mouth. The names of outputs vary, so they are
/// recognized by their shapes.
package struct SCRFDDecoder: FaceDecoder {
  private struct Grid {
    let stride: Int
    let columns: Int
    let count: Int
    let scores: Int
    let boxes: Int
    let points: Int
  }

  private static let anchors = 2

  private let grids: [Grid]
  private let threshold: Double
  private let overlap: Double

  package init(
    _ faces: ModelDescription.Faces, _ input: ModelDescription.Input, outputs: [TensorShape]
  ) throws(VisionError) {
    var grids: [Grid] = []
    for stride in [8, 16, 32] {
      let columns = input.width / stride
      let count = Self.anchors * columns * (input.height / stride)
      grids.append(
        Grid(
          stride: stride, columns: columns, count: count,
          scores: try outputIndex(.scrfd, rows: count, columns: 1, in: outputs),
          boxes: try outputIndex(.scrfd, rows: count, columns: 4, in: outputs),
          points: try outputIndex(.scrfd, rows: count, columns: 10, in: outputs)))
    }
    self.grids = grids
    self.threshold = faces.threshold
    self.overlap = faces.overlap
  }

  package func faces(_ outputs: [Tensor]) -> [FaceCandidate] {
    var candidates: [FaceCandidate] = []
    for grid in self.grids {
      let scores = outputs[grid.scores].values
      let boxes = outputs[grid.boxes].values
      let points = outputs[grid.points].values
      let stride = Double(grid.stride)
      for index in 0 ..< grid.count where Double(scores[index]) >= self.threshold {
        let cell = index / Self.anchors
        let x = Double(cell % grid.columns) * stride
        let y = Double(cell / grid.columns) * stride
        func distance(_ side: Int) -> Double { Double(boxes[4 * index + side]) * stride }
        func at(_ number: Int) -> PicturePoint {
          let place = 10 * index + 2 * number
          return PicturePoint(
            x: x + Double(points[place]) * stride, y: y + Double(points[place + 1]) * stride)
        }
        candidates.append(
          FaceCandidate(
            confidence: min(1, Double(scores[index])), x: x - distance(0), y: y - distance(1),
            width: distance(0) + distance(2), height: distance(1) + distance(3),
            landmarks: FaceLandmarks(
              leftEye: at(0), rightEye: at(1),
              mouth: PicturePoint(x: (at(3).x + at(4).x) / 2, y: (at(3).y + at(4).y) / 2))))
      }
    }
    return FaceSuppression.greedy(candidates.filter(\.isValid), overlap: self.overlap)
  }
}
