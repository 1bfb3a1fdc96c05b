import SidelightKernels
import SidelightScene

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Decodes YuNet (Wu et al. 2023) of March 2023, which OpenCV's own reader needs version 4.8 for.
///
/// For every stride `s` of 8, 16 and 32, and every cell of that size, row by row: the confidence is
/// `sqrt(cls * obj)`, the centre of the box `(cell + bbox[0...1]) * s`, its size
/// `exp(bbox[2...3]) * s`, and five points `(cell + kps) * s`: left eye, right eye, nose, and the
/// corners of the mouth.
package struct YuNetDecoder: FaceDecoder {
  private struct Grid {
    let stride: Int
    let columns: Int
    let count: Int
    let classes: Int
    let objects: Int
    let boxes: Int
    let points: Int
  }

  private let grids: [Grid]
  private let threshold: Double
  private let overlap: Double

  package init(
    _ faces: ModelDescription.Faces, _ input: ModelDescription.Input, outputs: [TensorShape]
  ) throws(VisionError) {
    var grids: [Grid] = []
    for stride in [8, 16, 32] {
      let columns = input.width / stride
      let count = columns * (input.height / stride)
      func index(_ name: String, _ columns: Int) throws(VisionError) -> Int {
        try outputIndex(
          .yuNet, rows: count, columns: columns, named: "\(name)_\(stride)", in: outputs)
      }
      grids.append(
        Grid(
          stride: stride, columns: columns, count: count, classes: try index("cls", 1),
          objects: try index("obj", 1), boxes: try index("bbox", 4), points: try index("kps", 10)))
    }
    self.grids = grids
    self.threshold = faces.threshold
    self.overlap = faces.overlap
  }

  package func faces(_ outputs: [Tensor]) -> [FaceCandidate] {
    var candidates: [FaceCandidate] = []
    for grid in self.grids {
      let classes = outputs[grid.classes].values
      let objects = outputs[grid.objects].values
      let boxes = outputs[grid.boxes].values
      let points = outputs[grid.points].values
      let stride = Double(grid.stride)
      for index in 0 ..< grid.count {
        let product = max(0, min(1, classes[index])) * max(0, min(1, objects[index]))
        let confidence = Double(product).squareRoot()
        guard confidence >= self.threshold else { continue }
        let column = Double(index % grid.columns)
        let row = Double(index / grid.columns)
        func at(_ values: [Float], _ place: Int) -> PicturePoint {
          PicturePoint(
            x: (column + Double(values[place])) * stride,
            y: (row + Double(values[place + 1])) * stride)
        }
        let center = at(boxes, 4 * index)
        let width = exp(Double(boxes[4 * index + 2])) * stride
        let height = exp(Double(boxes[4 * index + 3])) * stride
        let mouth = (at(points, 10 * index + 6), at(points, 10 * index + 8))
        candidates.append(
          FaceCandidate(
            confidence: confidence, x: center.x - width / 2, y: center.y - height / 2,
            width: width, height: height,
            landmarks: FaceLandmarks(
              leftEye: at(points, 10 * index), rightEye: at(points, 10 * index + 2),
              mouth: PicturePoint(
                x: (mouth.0.x + mouth.1.x) / 2, y: (mouth.0.y + mouth.1.y) / 2))))
      }
    }
    return FaceSuppression.greedy(candidates.filter(\.isValid), overlap: self.overlap)
  }
}
