import Foundation
import SidelightKernels
import SidelightScene
import SidelightVision
import Testing

@Suite struct `Decoders of faces` {
  private func input(_ width: Int, _ height: Int) -> ModelDescription.Input {
    ModelDescription.Input(
      name: "x", layout: .nchw, width: width, height: height, fit: .letterbox)
  }

  private func tensors(_ shapes: [TensorShape], fill: Float = 0) -> [[Float]] {
    shapes.map { [Float](repeating: fill, count: $0.count) }
  }

  private func decode(
    _ decoder: any FaceDecoder, _ shapes: [TensorShape], _ values: [[Float]]
  ) -> [FaceCandidate] {
    decoder.faces(zip(shapes, values).map { Tensor(dimensions: $0.dimensions, values: $1) })
  }

  private func isNear(_ a: PicturePoint?, _ x: Double, _ y: Double) -> Bool {
    a.map { abs($0.x - x) < 1e-3 && abs($0.y - y) < 1e-3 } ?? false
  }

  @Test
  func `BlazeFace: an anchor of the second grid, relative to the middle of its cell`() throws {
    let shapes = [
      TensorShape(name: "r", dimensions: [1, 896, 16]),
      TensorShape(name: "c", dimensions: [1, 896, 1]),
    ]
    let decoder = try BlazeFaceDecoder(
      ModelDescription.Faces(encoding: .blazeFace), self.input(128, 128), outputs: shapes)
    var values = self.tensors(shapes)
    values[1] = [Float](repeating: -100, count: 896)
    // Cell (3, 2) of the grid of 8x8, its fifth anchor: the middle is at (56, 40).
    let index = 16 * 16 * 2 + (2 * 8 + 3) * 6 + 4
    values[1][index] = 2
    let numbers: [Float] = [4, -2, 30, 40, -8, -6, 8, -6, 0, 0, 1, 9, -15, 0, 15, 0]
    values[0].replaceSubrange(16 * index ..< 16 * index + 16, with: numbers)
    let faces = self.decode(decoder, shapes, values)
    #expect(faces.count == 1)
    let face = try #require(faces.first)
    #expect(abs(face.confidence - 1 / (1 + exp(-2.0))) < 1e-6)
    #expect(face.x == 60 - 15 && face.y == 38 - 20 && face.width == 30 && face.height == 40)
    #expect(self.isNear(face.landmarks?.leftEye, 48, 34))
    #expect(self.isNear(face.landmarks?.rightEye, 64, 34))
    #expect(self.isNear(face.landmarks?.mouth, 57, 49))
  }

  @Test func `BlazeFace: candidates that overlap become their mean by confidence`() throws {
    let shapes = [
      TensorShape(name: "r", dimensions: [1, 2304, 16]),
      TensorShape(name: "c", dimensions: [1, 2304, 1]),
    ]
    let decoder = try BlazeFaceDecoder(
      ModelDescription.Faces(encoding: .blazeFace, threshold: 0.1), self.input(192, 192),
      outputs: shapes)
    var values = self.tensors(shapes)
    values[1] = [Float](repeating: -100, count: 2304)
    // Two neighbouring cells, 4 pixels apart, with confidences of 0.75 and 0.25.
    for (index, logit) in [(48 * 10 + 10, log(3.0)), (48 * 10 + 11, -log(3.0))] {
      values[1][index] = Float(logit)
      values[0][16 * index + 2] = 40
      values[0][16 * index + 3] = 40
    }
    let faces = self.decode(decoder, shapes, values)
    #expect(faces.count == 1)
    let face = try #require(faces.first)
    #expect(abs(face.x - (42 - 20 + 1)) < 1e-3)
    #expect(abs(face.confidence - 0.75) < 1e-5)
    #expect(self.isNear(face.landmarks?.mouth, 43, 42))
  }

  @Test
  func `YuNet: cells times stride, exponential sizes, and the root of two confidences`() throws {
    let shapes = [8, 16, 32].flatMap { stride in
      [("cls", 1), ("obj", 1), ("bbox", 4), ("kps", 10)].map {
        TensorShape(
          name: "\($0.0)_\(stride)", dimensions: [1, (96 / stride) * (64 / stride), $0.1])
      }
    }
    let decoder = try YuNetDecoder(
      ModelDescription.Faces(encoding: .yuNet, threshold: 0.6), self.input(96, 64),
      outputs: shapes)
    var values = self.tensors(shapes)
    // Stride 16: row 2, column 4 of 6 columns.
    let index = 2 * 6 + 4
    values[4][index] = 0.81
    values[5][index] = 1
    values[6].replaceSubrange(
      4 * index ..< 4 * index + 4, with: [0.5, 0.25, Float(log(2.0)), Float(log(3.0))])
    values[7].replaceSubrange(
      10 * index ..< 10 * index + 10, with: [-0.5, 0, 0.5, 0, 0, 0.5, -0.5, 1, 0.5, 1])
    let faces = self.decode(decoder, shapes, values)
    #expect(faces.count == 1)
    let face = try #require(faces.first)
    #expect(abs(face.confidence - 0.9) < 1e-6)
    #expect(abs(face.x - (72 - 16)) < 1e-3 && abs(face.y - (36 - 24)) < 1e-3)
    #expect(abs(face.width - 32) < 1e-3 && abs(face.height - 48) < 1e-3)
    #expect(self.isNear(face.landmarks?.leftEye, 56, 32))
    #expect(self.isNear(face.landmarks?.rightEye, 72, 32))
    #expect(self.isNear(face.landmarks?.mouth, 64, 48))
  }

  @Test func `SCRFD: distances from the corner of a cell, in strides`() throws {
    let shapes = [8, 16, 32].flatMap { stride in
      [1, 4, 10].map {
        TensorShape(
          name: "\(stride)-\($0)", dimensions: [2 * (64 / stride) * (64 / stride), $0])
      }
    }
    let decoder = try SCRFDDecoder(
      ModelDescription.Faces(encoding: .scrfd), self.input(64, 64), outputs: shapes)
    var values = self.tensors(shapes)
    // Stride 8: row 3, column 5, the second anchor, at (40, 24); and an overlapping worse one.
    let index = 2 * (3 * 8 + 5) + 1
    values[0][index] = 0.9
    values[0][index - 1] = 0.6
    for anchor in [index, index - 1] {
      values[1].replaceSubrange(4 * anchor ..< 4 * anchor + 4, with: [1, 2, 3, 2])
      values[2].replaceSubrange(
        10 * anchor ..< 10 * anchor + 10, with: [-0.5, -1, 2, -1, 0, 0, 0, 1, 1, 1])
    }
    let faces = self.decode(decoder, shapes, values)
    #expect(faces.count == 1)
    let face = try #require(faces.first)
    #expect(abs(face.confidence - 0.9) < 1e-6)
    #expect(face.x == 32 && face.y == 8 && face.width == 32 && face.height == 32)
    #expect(self.isNear(face.landmarks?.leftEye, 36, 16))
    #expect(self.isNear(face.landmarks?.mouth, 44, 32))
  }

  @Test func `UltraFace: corners as parts of the sides`() throws {
    let shapes = [
      TensorShape(name: "scores", dimensions: [1, 3, 2]),
      TensorShape(name: "boxes", dimensions: [1, 3, 4]),
    ]
    let decoder = try UltraFaceDecoder(
      ModelDescription.Faces(encoding: .ultraFace), self.input(320, 240), outputs: shapes)
    let faces = self.decode(
      decoder, shapes,
      [
        [0.1, 0.9, 0.2, 0.8, 0.9, 0.1], [0.25, 0.25, 0.5, 0.75, 0.26, 0.25, 0.5, 0.75, 0, 0, 1, 1],
      ])
    #expect(faces.count == 1)
    let face = try #require(faces.first)
    #expect(face.x == 80 && face.y == 60 && face.width == 80 && face.height == 120)
    #expect(face.landmarks == nil)
  }

  @Test(arguments: [Float.nan, .infinity, 1e30])
  func `outputs that are not finite yield no faces`(value: Float) throws {
    let shapes = [
      TensorShape(name: "r", dimensions: [1, 896, 16]),
      TensorShape(name: "c", dimensions: [1, 896, 1]),
    ]
    let decoder = try BlazeFaceDecoder(
      ModelDescription.Faces(encoding: .blazeFace), self.input(128, 128), outputs: shapes)
    #expect(self.decode(decoder, shapes, self.tensors(shapes, fill: value)).isEmpty)
  }

  @Test
  func `landmarks at their places in the canonical box yield that box, at any size and roll`()
    throws
  {
    for size in [20.0, 75, 400] {
      for degrees in stride(from: -180.0, to: 180, by: 15) {
        let roll = degrees * .pi / 180
        func place(_ x: Double, _ y: Double) -> PicturePoint {
          let (dx, dy) = ((x - 0.5) * size, (y - 0.5) * size)
          return PicturePoint(
            x: 300 + dx * cos(roll) - dy * sin(roll), y: 200 + dx * sin(roll) + dy * cos(roll))
        }
        let face = try #require(
          CanonicalFace.face(
            FaceLandmarks(
              leftEye: place(0.29, 0.37), rightEye: place(0.69, 0.37), mouth: place(0.5, 0.79)),
            confidence: 1))
        // The mouth is 1 % to the right of the middle of the eyes, which turns the second estimate.
        #expect(abs(face.size - size) < 0.005 * size)
        #expect(hypot(face.center.x - 300, face.center.y - 200) < 0.01 * size)
        #expect(abs(sin(face.roll - roll)) < 0.02 && cos(face.roll - roll) > 0)
      }
    }
  }

  @Test func `a face in profile keeps its size and roll`() throws {
    // The eyes are at one place.
    let eye = PicturePoint(x: 50, y: 40)
    let face = try #require(
      CanonicalFace.face(
        FaceLandmarks(leftEye: eye, rightEye: eye, mouth: PicturePoint(x: 50, y: 82)),
        confidence: 1))
    #expect(abs(face.size - 100) < 1e-6 && abs(face.roll) < 1e-6)
    #expect(
      CanonicalFace.face(FaceLandmarks(leftEye: eye, rightEye: eye, mouth: eye), confidence: 1)
        == nil)
  }
}
