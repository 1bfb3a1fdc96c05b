import Foundation
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
  private let settings: ModelDescription.Faces

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
    self.settings = faces
  }

  package func faces(_ outputs: [Tensor]) -> [FaceCandidate] {
    let boxes = outputs[self.boxes].values
    let scores = outputs[self.scores].values
    let candidates = self.anchors.indices.compactMap { index -> FaceCandidate? in
      let confidence = logistic(scores[index])
      guard confidence >= self.settings.threshold else { return nil }
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
    return FaceSuppression.weighted(candidates.filter(\.isValid), overlap: self.settings.overlap)
  }
}

/// The anchors of cells of `stride` pixels, row by row, in the outputs of a model.
private struct AnchorGrid {
  let stride: Int
  let columns: Int
  /// The number of anchors.
  let count: Int
  /// The indices of the outputs.
  let outputs: [Int]

  /// Returns the grids of the strides 8, 16 and 32.
  static func all(
    _ input: ModelDescription.Input, anchors: Int,
    outputs: (_ stride: Int, _ count: Int) throws(VisionError) -> [Int]
  ) throws(VisionError) -> [AnchorGrid] {
    var grids: [AnchorGrid] = []
    for stride in [8, 16, 32] {
      let columns = input.width / stride
      let count = anchors * columns * (input.height / stride)
      grids.append(
        AnchorGrid(
          stride: stride, columns: columns, count: count, outputs: try outputs(stride, count)))
    }
    return grids
  }
}

/// Decodes SCRFD (Guo et al. 2021) with points, as InsightFace exports it.
///
/// For every stride `s` of 8, 16 and 32, and every cell of that size, row by row, there are two
/// anchors at the cell's top left corner. An anchor has a confidence, the distances to the left,
/// top, right and bottom of the box in strides, and five points relative to the anchor in strides:
/// left eye, right eye, nose, and the corners of the mouth. The names of outputs vary, so they are
/// recognized by their shapes.
package struct SCRFDDecoder: FaceDecoder {
  private static let anchors = 2

  /// The outputs of a grid are scores, boxes and points.
  private let grids: [AnchorGrid]
  private let settings: ModelDescription.Faces

  package init(
    _ faces: ModelDescription.Faces, _ input: ModelDescription.Input, outputs: [TensorShape]
  ) throws(VisionError) {
    self.grids = try AnchorGrid.all(input, anchors: Self.anchors) {
      _, count throws(VisionError) in
      [
        try outputIndex(.scrfd, rows: count, columns: 1, in: outputs),
        try outputIndex(.scrfd, rows: count, columns: 4, in: outputs),
        try outputIndex(.scrfd, rows: count, columns: 10, in: outputs),
      ]
    }
    self.settings = faces
  }

  package func faces(_ outputs: [Tensor]) -> [FaceCandidate] {
    var candidates: [FaceCandidate] = []
    for grid in self.grids {
      let scores = outputs[grid.outputs[0]].values
      let boxes = outputs[grid.outputs[1]].values
      let points = outputs[grid.outputs[2]].values
      let stride = Double(grid.stride)
      for index in 0 ..< grid.count where Double(scores[index]) >= self.settings.threshold {
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
    return FaceSuppression.greedy(candidates.filter(\.isValid), overlap: self.settings.overlap)
  }
}

/// Decodes Ultra-Light-Fast-Generic-Face-Detector, which applies its anchors itself.
///
/// A row of one output has the probabilities of background and face, the same row of the other the
/// left, top, right and bottom of the box, as parts of the input's sides.
package struct UltraFaceDecoder: FaceDecoder {
  private let scores: Int
  private let boxes: Int
  private let width: Double
  private let height: Double
  private let settings: ModelDescription.Faces

  package init(
    _ faces: ModelDescription.Faces, _ input: ModelDescription.Input, outputs: [TensorShape]
  ) throws(VisionError) {
    let count = (outputs.first { $0.dimensions.last == 4 }?.count ?? 4) / 4
    self.scores = try outputIndex(.ultraFace, rows: count, columns: 2, in: outputs)
    self.boxes = try outputIndex(.ultraFace, rows: count, columns: 4, in: outputs)
    self.width = Double(input.width)
    self.height = Double(input.height)
    self.settings = faces
  }

  package func faces(_ outputs: [Tensor]) -> [FaceCandidate] {
    let scores = outputs[self.scores].values
    let boxes = outputs[self.boxes].values
    let candidates = (0 ..< scores.count / 2).compactMap { index -> FaceCandidate? in
      let confidence = Double(scores[2 * index + 1])
      guard confidence >= self.settings.threshold else { return nil }
      let left = Double(boxes[4 * index]) * self.width
      let top = Double(boxes[4 * index + 1]) * self.height
      return FaceCandidate(
        confidence: min(1, confidence), x: left, y: top,
        width: Double(boxes[4 * index + 2]) * self.width - left,
        height: Double(boxes[4 * index + 3]) * self.height - top)
    }
    return FaceSuppression.greedy(candidates.filter(\.isValid), overlap: self.settings.overlap)
  }
}

/// Decodes YuNet (Wu et al. 2023) of March 2023, which OpenCV's own reader needs version 4.8 for.
///
/// For every stride `s` of 8, 16 and 32, and every cell of that size, row by row: the confidence is
/// `sqrt(cls * obj)`, the centre of the box `(cell + bbox[0...1]) * s`, its size
/// `exp(bbox[2...3]) * s`, and five points `(cell + kps) * s`: left eye, right eye, nose, and the
/// corners of the mouth.
package struct YuNetDecoder: FaceDecoder {
  /// The outputs of a grid are `cls`, `obj`, `bbox` and `kps`.
  private let grids: [AnchorGrid]
  private let settings: ModelDescription.Faces

  package init(
    _ faces: ModelDescription.Faces, _ input: ModelDescription.Input, outputs: [TensorShape]
  ) throws(VisionError) {
    self.grids = try AnchorGrid.all(input, anchors: 1) { stride, count throws(VisionError) in
      func index(_ name: String, _ columns: Int) throws(VisionError) -> Int {
        try outputIndex(
          .yuNet, rows: count, columns: columns, named: "\(name)_\(stride)", in: outputs)
      }
      return [
        try index("cls", 1), try index("obj", 1), try index("bbox", 4), try index("kps", 10),
      ]
    }
    self.settings = faces
  }

  package func faces(_ outputs: [Tensor]) -> [FaceCandidate] {
    var candidates: [FaceCandidate] = []
    for grid in self.grids {
      let classes = outputs[grid.outputs[0]].values
      let objects = outputs[grid.outputs[1]].values
      let boxes = outputs[grid.outputs[2]].values
      let points = outputs[grid.outputs[3]].values
      let stride = Double(grid.stride)
      for index in 0 ..< grid.count {
        let product = max(0, min(1, classes[index])) * max(0, min(1, objects[index]))
        let confidence = Double(product).squareRoot()
        guard confidence >= self.settings.threshold else { continue }
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
    return FaceSuppression.greedy(candidates.filter(\.isValid), overlap: self.settings.overlap)
  }
}
