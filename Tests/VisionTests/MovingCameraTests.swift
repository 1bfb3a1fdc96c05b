#if Vision
  import Foundation
  import SidelightKernelLanguage
  import SidelightKernels
  import SidelightScene
  import SidelightVision
  import Testing

  /// `faceBlur` on drawn frames of a camera in a hand, with the cascade and optical flow.
  @Suite struct `Privacy and a camera that moves` {
    private static let size = FrameSize(width: 320, height: 180)
    /// The margin of the room around the frame, in pixels.
    private static let margin = 24
    /// The face while the camera rests, in the frame.
    private static let face = FaceBox(center: PicturePoint(x: 120, y: 84), size: 56)

    /// A portrait before a wall of tiles.
    private static func room() throws -> ColorPicture {
      let (width, height) = (Self.size.width + 2 * Self.margin, Self.size.height + 2 * Self.margin)
      let scale = Self.face.size / TestPictures.faceSize
      let place = PicturePoint(
        x: Self.face.center.x + Double(Self.margin), y: Self.face.center.y + Double(Self.margin))
      let portrait = TestPictures.placed(
        try TestPictures.portrait(), center: TestPictures.faceCenter, at: place, scale: scale,
        width: width, height: height)
      let tiles = TestPictures.noise(width: 40, height: 30, seed: 3)
      var samples = portrait.samples
      for y in 0 ..< height {
        for x in 0 ..< width {
          let u = TestPictures.faceCenter.x + (Double(x) - place.x) / scale
          let v = TestPictures.faceCenter.y + (Double(y) - place.y) / scale
          guard min(u, v, 511 - u, 511 - v) < 0 else { continue }
          for channel in 0 ..< 3 {
            samples[3 * (width * y + x) + channel] =
              64 + tiles.samples[3 * (40 * (y / 9) + x / 12)] / 2
          }
        }
      }
      return ColorPicture(width: width, height: height, samples: samples)
    }

    /// The frame of a camera that has moved the room by a distance.
    private static func frame(_ room: ColorPicture, at camera: PicturePoint) -> ColorPicture {
      var samples: [UInt8] = []
      samples.reserveCapacity(3 * Self.size.pixelCount)
      for y in 0 ..< Self.size.height {
        for x in 0 ..< Self.size.width {
          let u = Double(x + Self.margin) + 0.5 - camera.x
          let v = Double(y + Self.margin) + 0.5 - camera.y
          for channel in 0 ..< 3 {
            samples.append(UInt8(TestPictures.level(room, u, v, channel).rounded()))
          }
        }
      }
      return ColorPicture(width: Self.size.width, height: Self.size.height, samples: samples)
    }

    /// The share of a face's squares of four pixels that a result shows unchanged.
    private static func exposure(
      _ face: FaceBox, _ before: ColorPicture, _ after: ColorPicture
    ) -> Double {
      var (shown, count) = (0, 0)
      for top in stride(from: 0, to: Self.size.height, by: 4) {
        for left in stride(from: 0, to: Self.size.width, by: 4) {
          let (x, y) = (Double(left) + 2 - face.center.x, Double(top) + 2 - face.center.y)
          guard hypot(x / 0.45, y / 0.55) < face.size else { continue }
          count += 1
          let isEqual = (0 ..< 16 * 3).allSatisfy { index in
            let pixel = (top + index / 12) * Self.size.width + left + index / 3 % 4
            let sample = 3 * pixel + index % 3
            return abs(Int(before.samples[sample]) - Int(after.samples[sample])) <= 1
          }
          if isEqual { shown += 1 }
        }
      }
      return Double(shown) / Double(count)
    }

    /// The camera's movement by frame, in pixels of a frame of the width 1280.
    enum Camera: CaseIterable {
      /// It shakes by 3 pixels, at 1 to 6 times a second.
      case shakes
      /// It also pans by up to 30 pixels a second.
      case pans

      func position(_ frame: Double) -> PicturePoint {
        func shake(_ start: Double) -> Double {
          [(1.6, 28.0), (0.9, 11), (0.5, 5)].enumerated().reduce(0) { sum, wave in
            let phase = frame / wave.element.1 + start * Double(wave.offset + 1)
            return sum + wave.element.0 * sin(2 * .pi * phase)
          }
        }
        let pan = self == .pans ? 57 * sin(2 * .pi * frame / 360) : 0
        return PicturePoint(x: (shake(0.1) + pan) / 4, y: shake(0.6) / 4)
      }
    }

    @Test(arguments: Camera.allCases)
    func `no frame shows the face, and few are covered whole after two seconds`(
      _ camera: Camera
    ) async throws {
      var catalogue = FilterCatalogue.builtIn
      catalogue.registerVision()
      let plan = try catalogue.resolve([.filter("faceBlur")])
        .plan(for: FrameGeometry(format: .rgb24, size: Self.size))
      let compute = ComputePool(threadCount: 1)
      defer { compute.shutdown() }
      let executor = PlanExecutor(pool: BufferPool(), compute: compute)
      let room = try Self.room()
      var stream = StreamScene()
      // A search ends two frames after its frame.
      var jobs: [(due: Int, job: StreamScene.Job)] = []
      var (exposed, whole) = ([Int](), [Int]())
      for index in 0 ..< 90 {
        for entry in jobs where entry.due <= index { stream.finish(await entry.job.run()) }
        jobs.removeAll { $0.due <= index }
        let position = camera.position(Double(index))
        let picture = Self.frame(room, at: position)
        let frame = try TestPictures.frame(picture)
        let time = FrameTime(index: UInt64(index), arrival: .milliseconds(33 * index))
        let scene = try await stream.step(frame, at: time, for: plan)
        jobs += stream.takeJobs().map { (index + 2, $0) }
        let result = try await executor.run(plan, on: frame, at: time, scene: scene)
        var face = Self.face
        face.center = PicturePoint(x: face.center.x + position.x, y: face.center.y + position.y)
        if Self.exposure(face, picture, TestPictures.picture(of: result)) > 0.1 {
          exposed.append(index)
        }
        if case .whole? = scene.drawing(of: 0, as: FaceCoverage.self) { whole.append(index) }
      }
      #expect(exposed.isEmpty)
      #expect(whole.first == 0, "no face is known at the start")
      #expect(whole.count { $0 >= 60 } <= 3, "\(whole)")
    }
  }
#endif
