#if Vision
  import Foundation
  import SidelightKernels
  import SidelightScene
  import SidelightVision
  import Testing

  @Suite struct `Optical flow` {
    /// A smooth random texture, moved by a fraction of a pixel.
    private func texture(
      _ dx: Double, _ dy: Double, width: Int = 160, height: Int = 90
    ) -> LumaPicture {
      let coarse = TestPictures.noise(width: 60, height: 40, seed: 5)
      return LumaPicture(
        TestPictures.placed(
          coarse, center: PicturePoint(x: 30, y: 20),
          at: PicturePoint(x: Double(width) / 2 + dx, y: Double(height) / 2 + dy), scale: 8,
          width: width, height: height))
    }

    private let grid = (0 ..< 24).map {
      PicturePoint(x: 30 + 20 * Double($0 % 6), y: 20 + 15 * Double($0 / 6))
    }

    @Test(
      arguments: [(0.0, 0.0), (0.4, -0.3), (3.4, -2.2), (-9.5, 6.25)])
    func `points follow a picture that moves, within 0.2 pixels`(shift: (x: Double, y: Double))
      throws
    {
      var flow = OpticalFlow()
      let moved = try flow.follow(
        self.grid, from: self.texture(0, 0), to: self.texture(shift.x, shift.y))
      #expect(moved.count == self.grid.count)
      #expect(moved.count { $0 != nil } >= 22)
      for (before, after) in zip(self.grid, moved) {
        guard let after else { continue }
        #expect(hypot(after.x - before.x - shift.x, after.y - before.y - shift.y) < 0.2)
      }
    }

    @Test func `a sequence gives the same results as separate pairs`() throws {
      let pictures = (0 ..< 5).map { self.texture(1.5 * Double($0), Double($0)) }
      var flow = OpticalFlow()
      for index in 1 ..< 5 {
        var other = OpticalFlow()
        #expect(
          try flow.follow(self.grid, from: pictures[index - 1], to: pictures[index])
            == other.follow(self.grid, from: pictures[index - 1], to: pictures[index]))
      }
    }

    @Test func `points are lost when the picture changes, or leaves the frame`() throws {
      var flow = OpticalFlow()
      let noise = LumaPicture(TestPictures.noise(width: 160, height: 90))
      let lost = try flow.follow(self.grid, from: self.texture(0, 0), to: noise)
      #expect(lost.count { $0 != nil } <= 4)
      let outside = try flow.follow(
        [PicturePoint(x: -500, y: 20), PicturePoint(x: 1e6, y: 1e6)], from: noise, to: noise)
      #expect(outside.allSatisfy { $0 == nil })
    }

    @Test func `pictures of any size are followed, and different sizes are refused`() throws {
      var flow = OpticalFlow()
      for (width, height) in [(1, 1), (2, 7), (14, 15), (33, 16)] {
        let picture = LumaPicture(
          width: width, height: height, samples: [UInt8](repeating: 9, count: width * height))
        _ = try flow.follow([PicturePoint(x: 0.5, y: 0.5)], from: picture, to: picture)
        #expect(try flow.follow([], from: picture, to: picture).isEmpty)
      }
      #expect(throws: VisionError.self) {
        _ = try flow.follow(
          self.grid, from: self.texture(0, 0), to: self.texture(0, 0, width: 80, height: 45))
      }
    }

    @Test func `points of a face are within its ellipse and apart from each other`() throws {
      let picture = self.texture(0, 0)
      let face = DetectedFace(center: PicturePoint(x: 70, y: 45), size: 60)
      let points = try OpticalFlow.points(of: face, in: picture)
      #expect((20 ... 36).contains(points.count))
      for (index, point) in points.enumerated() {
        let (x, y) = ((point.x - 70) / (0.36 * 60), (point.y - 45) / (0.45 * 60))
        #expect(x * x + y * y < 1.15)
        #expect(points[..<index].allSatisfy { hypot($0.x - point.x, $0.y - point.y) >= 3.7 })
      }
      let flat = LumaPicture(width: 160, height: 90, samples: [UInt8](repeating: 9, count: 14400))
      #expect(try OpticalFlow.points(of: face, in: flat).isEmpty)
      for center in [PicturePoint(x: -1e12, y: 0), PicturePoint(x: 159, y: 89)] {
        let far = DetectedFace(center: center, size: 1e9)
        _ = try OpticalFlow.points(of: far, in: picture)
      }
    }
  }
#endif
