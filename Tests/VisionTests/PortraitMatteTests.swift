import SidelightKernelLanguage
#if Vision
  import SidelightKernels
  import SidelightScene
  import SidelightVision
  import Testing

  @Suite struct `Portrait mattes` {
    static let face = DetectedFace(center: PicturePoint(x: 160, y: 70), size: 50)

    /// A drawn person before a wall: hair, face, neck, shirt, and its outline.
    static func scene(
      shift: Double = 0, noise: Int = 3
    ) -> (picture: ColorPicture, truth: [Bool], face: DetectedFace) {
      var random = TestRandom(state: 5)
      var samples: [UInt8] = []
      var truth: [Bool] = []
      for y in 0 ..< 180 {
        for x in 0 ..< 320 {
          let (u, v) = (Double(x) + 0.5 - 160 - shift, Double(y) + 0.5 - 70)
          func isIn(_ centerY: Double, _ a: Double, _ b: Double) -> Bool {
            (u / a) * (u / a) + ((v - centerY) / b) * ((v - centerY) / b) <= 1
          }
          var color: [Int]? = nil
          if isIn(-6, 30, 40) { color = [60, 40, 30] }
          if isIn(120, 72, 78) || (abs(u) < 14 && (30 ..< 60).contains(v)) {
            color = v > 45 ? [40, 60, 110] : [200, 150, 125]
          }
          if isIn(2, 23, 31) { color = [215, 165, 140] }
          truth.append(color != nil)
          let wall = [150 + x / 8, 165 - y / 10, 150]
          samples += (color ?? wall).map {
            UInt8(min(max($0 + Int.random(in: -noise ... noise, using: &random), 0), 255))
          }
        }
      }
      var face = Self.face
      face.center.x += shift
      return (ColorPicture(width: 320, height: 180, samples: samples), truth, face)
    }

    /// The intersection over the union with the truth, at half its size.
    static func overlap(_ matte: MatteEstimate, _ truth: [Bool]) -> Double {
      var (both, any) = (0, 0)
      for y in 0 ..< matte.height {
        for x in 0 ..< matte.width {
          let (own, other) = (matte.values[y * matte.width + x] >= 0.5, truth[2 * y * 320 + 2 * x])
          if own, other { both += 1 }
          if own || other { any += 1 }
        }
      }
      return Double(both) / Double(any)
    }

    @Test func `head and shoulders before a wall are found, also while they move`() throws {
      var source = PortraitMatteSource()
      for step in 0 ..< 4 {
        let (picture, truth, face) = Self.scene(shift: 8 * Double(step))
        let matte = try source.matte(of: picture, faces: [face])
        #expect(matte.isSure)
        #expect(matte.width == 160)
        #expect(Self.overlap(matte, truth) >= 0.93, "step \(step)")
      }
    }

    @Test func `the same picture has the same matte`() throws {
      let (picture, _, face) = Self.scene()
      var (one, other) = (PortraitMatteSource(), PortraitMatteSource())
      #expect(
        try one.matte(of: picture, faces: [face]) == other.matte(of: picture, faces: [face]))
    }

    @Test func `without a face, and without a difference of colours, it is not sure`() throws {
      var source = PortraitMatteSource()
      let (picture, _, face) = Self.scene()
      #expect(try !source.matte(of: picture, faces: []).isSure)
      // A face as large as the picture leaves no background.
      let near = DetectedFace(center: PicturePoint(x: 160, y: 90), size: 2000)
      #expect(try !source.matte(of: picture, faces: [near]).isSure)
      #expect(try source.matte(of: picture, faces: [face]).isSure)
    }

    @Test(
      arguments: [(1, 1), (2, 3), (17, 9), (320, 180)])
    func `faces at edges and in tiny pictures are no failure`(_ width: Int, _ height: Int) throws {
      var source = PortraitMatteSource()
      let picture = TestPictures.noise(width: width, height: height)
      for x in [-50.0, 0, 160, 400] {
        for size in [0.5, 10, 60, 500] {
          let face = DetectedFace(center: PicturePoint(x: x, y: 20), size: size)
          let matte = try source.matte(of: picture, faces: [face])
          #expect(matte.values.allSatisfy { $0 == 0 || $0 == 1 })
        }
      }
    }

    @Test
    func `the portrait of a woman keeps her face and shoulders, and not the corners`() throws {
      let portrait = try TestPictures.portrait()
      let picture = TestPictures.placed(
        portrait, center: TestPictures.faceCenter, at: PicturePoint(x: 160, y: 70),
        scale: 50 / TestPictures.faceSize)
      var source = PortraitMatteSource()
      let matte = try source.matte(of: picture, faces: [Self.face])
      #expect(matte.isSure)
      func value(_ x: Int, _ y: Int) -> Float { matte.values[y / 2 * 160 + x / 2] }
      for (x, y) in [(160, 70), (160, 50), (150, 150), (180, 160)] { #expect(value(x, y) == 1) }
      for (x, y) in [(5, 5), (315, 5), (60, 40)] { #expect(value(x, y) == 0) }
    }
  }

  @Suite struct `Backgrounds by the mattes of models` {
    @Test func `a model of one convolution blurs what it calls background`() async throws {
      // The convention of MODNet takes -1 to 1: green of 255 is the person.
      let model = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: 32, height: 32)
      let file = try ModelFile(name: "green", path: "green.onnx", bytes: model.bytes)
      let vision = try VisionModel(file, task: .matte, runtime: OpenCVRuntime())
      var catalogue = FilterCatalogue.builtIn
      catalogue.registerBackgrounds(
        MatteTools(models: ["green": { try ModelMatteSource(vision) }]))
      let size = FrameSize(width: 320, height: 180)
      var frame = try BufferPool().makeFrame(
        FrameGeometry(format: .rgb24, size: size))
      for y in 0 ..< size.height {
        frame.withMutableRow(y) { row in
          for x in 0 ..< size.width {
            // The right half is green, the left one has dark stripes.
            let level = x < 160 ? x % 2 == 0 ? 20 : 120 : 255
            for channel in 0 ..< 3 {
              let isGreen = x < 160 || channel == 1
              row.storeBytes(
                of: UInt8(isGreen ? level : 0), toByteOffset: 3 * x + channel, as: UInt8.self)
            }
          }
        }
      }
      let picture = frame.finish()
      let plan = try catalogue.resolve([.filter("backgroundBlur", ["matte": .text("green")])])
        .plan(for: picture.geometry)
      var scene = StreamScene()
      let drawn = try await scene.step(picture, at: FrameTime(), for: plan)
      let executor = PlanExecutor(pool: BufferPool(), compute: ComputePool(threadCount: 1))
      let result = try await executor.run(plan, on: picture, scene: drawn)
      func level(_ frame: Frame, _ x: Int) -> Int {
        frame.withRow(90) { row in
          unsafe Int(row.unsafeLoad(fromByteOffset: 3 * x + 1, as: UInt8.self))
        }
      }
      for x in 20 ..< 120 { #expect(abs(level(result, x) - level(result, x + 1)) <= 2) }
      for x in 180 ..< 320 { #expect(level(result, x) == 255) }
    }
  }
#endif
