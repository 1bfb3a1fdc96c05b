import SidelightKernelLanguage
import SidelightKernels
import SidelightScene
import Testing

/// Images on faces: places, formats, fades and selections.
@Suite struct `Stickers on faces` {
  static let orientations = (0 ..< 4).flatMap { turns in
    [false, true].map { Orientation(quarterTurns: turns, isMirrored: $0) }
  }

  /// An opaque image whose left half is red and whose right half is blue; the lower half has green
  /// too.
  static func quadrants() throws -> ImageAsset {
    try StickerScene.image(60, 30) { x, y in
      [x < 30 ? 255 : 0, y < 15 ? 0 : 255, x < 30 ? 0 : 255, 255]
    }
  }

  static func white(_ width: Int = 20, _ height: Int = 20) throws -> ImageAsset {
    try StickerScene.image(width, height) { _, _ in [255, 255, 255, 255] }
  }

  /// Colours and alpha of all kinds.
  static func noise(_ x: Int, _ y: Int) -> [UInt8] {
    [
      UInt8((x * 91 + y * 17) % 256), UInt8((x * 23 + y * 57) % 256),
      UInt8((x * 7 + y * 119) % 256),
      (x + y).isMultiple(of: 5) ? 0 : x.isMultiple(of: 3) ? 255 : UInt8((x * 31 + y * 71) % 256),
    ]
  }

  static func black(
    _ width: Int, _ height: Int, _ orientation: Orientation = .upright
  ) throws -> Frame {
    try TestFrame.flat(
      FrameGeometry(format: .rgb24, size: FrameSize(width: width, height: height)), 0
    ).oriented(orientation)
  }

  /// The sum, the centre and the spread of a channel over a black frame.
  struct Moments {
    var sum = 0.0
    var center = PicturePoint(x: 0, y: 0)
    /// The variances along x and y, and the covariance.
    var spread = SIMD3<Double>.zero

    init(_ frame: Frame, _ channel: Int) {
      let samples = frame.samples[0]
      func forEach(_ body: (Double, Double, Double) -> Void) {
        for index in 0 ..< samples.count / 3 where samples[3 * index + channel] > 0 {
          body(
            Double(index % frame.size.width) + 0.5, Double(index / frame.size.width) + 0.5,
            Double(samples[3 * index + channel]) / 255)
        }
      }
      var (sum, x, y) = (0.0, 0.0, 0.0)
      forEach { (sum, x, y) = (sum + $2, x + $0 * $2, y + $1 * $2) }
      (self.sum, self.center) = (sum, PicturePoint(x: x / sum, y: y / sum))
      var spread = SIMD3<Double>.zero
      let center = self.center
      forEach { column, row, weight in
        let (dx, dy) = (column - center.x, row - center.y)
        spread += weight * SIMD3(dx * dx, dy * dy, dx * dy)
      }
      self.spread = spread / sum
    }
  }

  static func distance(_ one: PicturePoint, _ other: PicturePoint) -> Double {
    SimulatedScene.distance(one, other)
  }

  // MARK: Places

  @Test(arguments: FaceAnchor.allCases, [-0.5, 0, 0.35])
  func `centre, size and angle follow the face in every orientation`(
    _ anchor: FaceAnchor, _ roll: Double
  ) async throws {
    let scene = StickerScene(["sticker": try Self.quadrants()])
    for orientation in Self.orientations {
      let frame = try Self.black(640, 360, orientation)
      let isTurned = !orientation.quarterTurns.isMultiple(of: 2)
      // The reduced picture is 320x180, or 180x320, as displayed.
      let face = StickerScene.face(1, isTurned ? 80 : 170, isTurned ? 170 : 80, 60, roll: roll)
      let result = try await scene.draw(
        [
          "anchor": .text(anchor.rawValue), "scale": .number(0.8),
          "faceOffset": .vector([0.1, -0.2]),
        ], [face], on: frame)

      // In the picture as displayed, by trigonometry from the face's square.
      let places: [FaceAnchor: (Double, Double)] = [
        .face: (0.5, 0.5), .eyes: (0.49, 0.37), .forehead: (0.49, 0.16), .mouth: (0.5, 0.79),
      ]
      let (u, v) = try #require(places[anchor])
      let center = face.box.point(u: u + 0.1, v: v - 0.2)
      let right = PicturePoint(x: 1, y: 0).turned(by: roll)
      let down = PicturePoint(x: 0, y: 1).turned(by: roll)
      let map = UprightPicture(reducing: frame).frameMap
      // Centroids of the halves are a quarter of the width, or of the height, from the centre.
      let (width, height) = (60 * 0.8, 60 * 0.8 / 2)
      let red = Moments(result, 0), green = Moments(result, 1), blue = Moments(result, 2)
      #expect(Self.distance(red.center, map(center - 0.25 * width * right)) < 0.15)
      #expect(Self.distance(blue.center, map(center + 0.25 * width * right)) < 0.15)
      #expect(Self.distance(green.center, map(center + 0.25 * height * down)) < 0.15)
      // Four pixels of the frame to one of the picture.
      let area = 4 * width * height / 2
      for moments in [red, green, blue] { #expect(abs(moments.sum / area - 1) < 0.02) }
      // The red half is a square, whose spread is the same in all directions.
      #expect(abs(red.spread.x - red.spread.y) < 0.02 * red.spread.x)
      #expect(abs(red.spread.x / (4 * height * height / 12) - 1) < 0.03)
    }
  }

  @Test(arguments: [
    (FaceAnchor.face, 1, 0), (.eyes, 1, 0), (.forehead, 1.7, -0.52), (.mouth, 0.6, -0.1),
  ])
  func `each anchor has its own size and offset`(
    _ anchor: FaceAnchor, _ scale: Double, _ down: Double
  ) async throws {
    let scene = StickerScene(["sticker": try Self.white()])
    let frame = try Self.black(320, 180)
    func draw(_ parameters: [String: ParameterValue]) async throws -> [[UInt8]] {
      let given = parameters.merging(["anchor": .text(anchor.rawValue)]) { one, _ in one }
      return try await scene.draw(given, [StickerScene.face(1, 160, 90, 40)], on: frame).samples
    }
    func given(_ scale: Double, _ down: Double) async throws -> [[UInt8]] {
      try await draw(["scale": .number(scale), "faceOffset": .vector([0, down])])
    }
    let result = try await draw([:])
    #expect(result == (try await given(scale, down)))
    // A given value counts, also the value of another anchor.
    #expect((result == (try await given(1, 0))) == (scale == 1))
  }

  @Test func `an image that does not rotate stays level`() async throws {
    let scene = StickerScene(["sticker": try Self.quadrants()])
    let frame = try Self.black(320, 180)
    for (rotates, expected) in [(true, 0.4), (false, 0.0)] {
      let result = try await scene.draw(
        ["rotate": .flag(rotates)], [StickerScene.face(1, 150, 90, 60, roll: 0.4)], on: frame)
      let line = Moments(result, 2).center - Moments(result, 0).center
      let turned = line.turned(by: -expected)
      #expect(turned.x > 0)
      #expect(abs(turned.y) < 0.005 * line.length)
    }
  }

  @Test(arguments: [(0.11, 40.0), (0.5, 60.0), (2.3, 60.0)])
  func `an image of fine lines shrinks to their mean`(
    _ scale: Double, _ size: Double
  ) async throws {
    // Lines of one pixel: without reduction they alias to black and white.
    let sticker = try StickerScene.image(400, 300) { x, y in
      [UInt8(x % 2) * 255, UInt8(y % 2) * 255, UInt8((x + y) % 2) * 255, 255]
    }
    let scene = StickerScene(["sticker": sticker])
    let result = try await scene.draw(
      ["scale": .number(scale)], [StickerScene.face(1, 80.3, 45.2, size, roll: 0.1)],
      on: try Self.black(160, 90))
    let samples = result.samples[0]
    let center = 3 * (45 * 160 + 80)
    for channel in 0 ..< 3 {
      #expect(abs(Double(samples[center + channel]) - 127.5) < 2)
    }
  }

  @Test func `a reduction covers the area of an odd image`() throws {
    let pyramid = try Self.white(37, 21).pyramid
    var area = 0.0
    var factors: Set<Double> = []
    for step in [1.0, 2, 4, 8, 16, 32, 64] {
      let level = pyramid.level(step: step)
      factors.insert(level.factor)
      area = 0
      for y in 0 ..< level.raster.size.height {
        for x in 0 ..< level.raster.size.width {
          area += unsafe Double(
            level.raster.row(y).assumingMemoryBound(to: Int16.self)[4 * x + 3])
        }
      }
      let expected = 37.0 * 21
      #expect(abs(area / 8160 * level.factor * level.factor / expected - 1) < 0.01)
    }
    #expect(factors == [1, 2, 4, 8, 16, 32, 64])
  }

  // MARK: Formats

  /// The formats with all meanings of their samples.
  static let geometries = PixelFormat.allCases.flatMap { format in
    FormatSweep.colors(format).map { (format, $0) }
  }

  @Test(arguments: Self.geometries)
  func `every format is the formula`(_ format: PixelFormat, _ color: ColorDescription) async throws
  {
    let (width, height) = (23, 16)
    let sticker = try StickerScene.image(width, height) { Self.noise($0, $1) }
    let scene = StickerScene(["sticker": sticker])
    // Inside, across the edges, and larger than the frame.
    let cases: [(FrameSize, Double, Double, Double, Double)] = [
      (FrameSize(width: 65, height: 43), 31, 20, 24, 0.3),
      (FrameSize(width: 65, height: 43), 2, 41, 30, -0.7),
      (FrameSize(width: 33, height: 17), 33, 1, 23, 0),
      (FrameSize(width: 5, height: 3), 2, 2, 30, 1.4),
      (FrameSize(width: 1, height: 1), 0.5, 0.5, 25, 0.2),
      (FrameSize(width: 2, height: 7), 1, 3, 60, 3),
    ]
    for (number, (size, x, y, side, roll)) in cases.enumerated() {
      let geometry = FrameGeometry(format: format, size: size, color: color)
      let frame = try TestFrame.make(
        geometry, seed: UInt64(number), padding: TestFrame.Padding.allCases[number % 3])
      let opacity = number == 1 ? 0.6 : 1
      let face = StickerScene.face(1, x, y, side, roll: roll)
      let result = try await scene.draw(["opacity": .number(opacity)], [face], on: frame)
      // These frames are not reduced: their pixels are the picture's pixels.
      let transform = AffineMap(
        StickerPlacement(anchor: .face).transform(
          width: Double(width), height: Double(height), on: face.box))
      let oracle = StickerOracle(
        image: (0 ..< width * height).map { Self.noise($0 % width, $0 / width).map(Double.init) },
        width: width, height: height, map: try #require(transform.inverse), opacity: opacity)
      let expected = oracle.apply(to: frame)
      #expect(expected != frame.samples)
      #expect(result.worstDifference(from: expected) <= 1, "\(size)")
      #expect(result.geometry == geometry)
    }
  }

  @Test(arguments: Self.geometries)
  func `a frame without faces keeps its bytes`(
    _ format: PixelFormat, _ color: ColorDescription
  ) async throws {
    let scene = StickerScene(["sticker": try Self.white()])
    for (number, size) in FormatSweep.sizes.enumerated() {
      let geometry = FrameGeometry(format: format, size: size, color: color)
      let padding = TestFrame.Padding.allCases[number % 3]
      let frame = try TestFrame.make(geometry, seed: UInt64(number), padding: padding)
      #expect(try await scene.draw([], on: frame).samples == frame.samples)
      // Beyond the frame, and of another id.
      let outside = StickerScene.face(1, -900, 4, 10)
      #expect(try await scene.draw([outside], on: frame).samples == frame.samples)
      let other = StickerScene.face(2, 1, 1, 10)
      let choice: StickerScene.Parameters = ["which": .text("id"), "id": .number(1)]
      #expect(try await scene.draw(choice, [other], on: frame).samples == frame.samples)
      let plan = try scene.plan([:], for: geometry)
      #expect(try await scene.run(plan, nil, on: frame).samples == frame.samples)
      // In place.
      let (memory, copy) = PaddedBuffer.holding(frame)
      let destination = MutableFrame(layout: copy.layout, buffer: memory.buffer)
      #expect(try await scene.run(plan, nil, on: copy, into: destination).samples == frame.samples)
    }
  }

  @Test(arguments: Self.geometries)
  func `in place and in bands the result is the same`(
    _ format: PixelFormat, _ color: ColorDescription
  ) async throws {
    let sticker = try StickerScene.image(23, 16) { Self.noise($0, $1) }
    let faces = [
      StickerScene.face(1, 20, 12, 30, roll: 0.3), StickerScene.face(2, 42, 30, 35, roll: -1),
    ]
    let geometry = FrameGeometry(
      format: format, size: FrameSize(width: 65, height: 43), color: color)
    let frame = try TestFrame.make(geometry, padding: .ragged)
    let parameters: StickerScene.Parameters = ["which": .text("all"), "fade": .number(0)]
    let whole = StickerScene(
      ["sticker": sticker], bands: BandRunner(maxBands: 1))
    let expected = try await whole.draw(parameters, faces, on: frame).samples
    #expect(expected != frame.samples)

    let scene = StickerScene(
      ["sticker": sticker], bands: BandRunner(maxBands: 7, minBandNanoseconds: 0))
    #expect(try await scene.draw(parameters, faces, on: frame).samples == expected)
    let plan = try scene.plan(parameters, for: geometry)
    var stage = try scene.stage(plan)
    let drawn = try await StickerScene.scene(&stage, faces, on: frame)
    let (memory, copy) = PaddedBuffer.holding(frame, spare: 40)
    let result = try await scene.run(
      plan, drawn, on: copy, into: MutableFrame(layout: copy.layout, buffer: memory.buffer))
    #expect(result.samples == expected)
    #expect(memory.touchedBytes(outside: [copy.layout]) == 0)
    #expect(scene.bench.pool.statistics.misses == 1)  // of the frame that was drawn before
  }

  @Test(arguments: [PixelFormat.i420, .nv12], FormatSweep.colors(.i420))
  func `YUV is close to the same picture in RGB`(
    _ format: PixelFormat, _ color: ColorDescription
  ) async throws {
    // Soft in colour and alpha, because chroma has half the resolution.
    let sticker = try StickerScene.image(96, 64) { x, y in
      let distance = Double((x - 48) * (x - 48)) / 2304 + Double((y - 32) * (y - 32)) / 1024
      return [UInt8(60 + x), UInt8(200 - y), UInt8(90 + x / 2), UInt8(255 * max(0, 1 - distance))]
    }
    let scene = StickerScene(["sticker": sticker])
    let face = StickerScene.face(1, 60, 40, 70, roll: 0.4)
    let geometry = FrameGeometry(
      format: format, size: FrameSize(width: 121, height: 79), color: color)
    let frame = try TestFrame.make(geometry, padding: .aligned) { plane, x, y, _ in
      plane == 0 ? UInt8(70 + x / 2 + y / 2) : UInt8(110 + x / 3)
    }
    func converted(_ frame: Frame) async throws -> Frame {
      let plan = try FilterCatalogue.builtIn.resolve([]).plan(
        for: frame.geometry, as: FrameEncoding(format: .rgb24))
      return try await scene.bench.executor.run(plan, on: frame)
    }
    let planes = try await converted(try await scene.draw([face], on: frame))
    let original = try await converted(frame)
    let pixels = try await scene.draw([face], on: original)
    #expect(planes.worstDifference(from: original.samples) > 40)
    #expect(planes.worstDifference(from: pixels.samples) <= 4)
  }

  @Test func `an opaque image on transparent pixels shows its colours`() async throws {
    let scene = StickerScene(["sticker": try Self.quadrants()])
    let geometry = FrameGeometry(
      format: .bgra8, size: FrameSize(width: 64, height: 64),
      color: ColorDescription(alpha: .straight))
    let frame = try TestFrame.make(geometry, padding: .aligned) { _, _, _, channel in
      channel == 3 ? 0 : 77
    }
    let samples = try await scene.draw([StickerScene.face(1, 32, 32, 40)], on: frame).samples[0]
    let left = 4 * (27 * 64 + 20)
    #expect(Array(samples[left ..< left + 4]) == [0, 0, 255, 255])
    #expect(Array(samples[0 ..< 4]) == [77, 77, 77, 0])
  }

  // MARK: Time and faces

  /// The image's opacity at the centre of a face, from a black frame under a white image.
  static func opacity(_ frame: Frame, _ x: Int = 32, _ y: Int = 32) -> Double {
    Double(frame.samples[0][3 * (y * frame.size.width + x)]) / 255
  }

  @Test func `the image fades in with the face and out at its last place`() async throws {
    let scene = StickerScene(["sticker": try Self.white()])
    let frame = try Self.black(64, 64)
    let plan = try scene.plan(
      ["fade": .number(0.4), "opacity": .number(0.8)], for: frame.geometry)
    var stage = try scene.stage(plan)
    var opacities: [Double] = []
    for step in 0 ..< 12 {
      let faces = step < 6 ? [StickerScene.face(1, 32, 32, 30)] : []
      let drawn = try await StickerScene.scene(
        &stage, faces, on: frame, at: .milliseconds(100 * step))
      opacities.append(Self.opacity(try await scene.run(plan, drawn, on: frame)) / 0.8)
    }
    let expected = [0, 0.25, 0.5, 0.75, 1, 1, 0.75, 0.5, 0.25, 0, 0, 0]
    for (opacity, expected) in zip(opacities, expected) { #expect(abs(opacity - expected) < 0.01) }
  }

  @Test func `a changed parameter keeps the fade`() async throws {
    let scene = StickerScene(["sticker": try Self.white(), "other": try Self.white(10, 10)])
    let frame = try Self.black(64, 64)
    let face = StickerScene.face(1, 32, 32, 30)
    var plan = try scene.plan(["fade": .number(1)], for: frame.geometry)
    var stage = try scene.stage(plan)
    for step in 0 ..< 6 {
      _ = try await StickerScene.scene(&stage, [face], on: frame, at: .milliseconds(100 * step))
    }
    // Half visible. The next plan has another image, anchor and fade.
    plan = try scene.plan(
      [
        "asset": .text("other"), "anchor": .text("mouth"), "faceOffset": .vector([0, -0.29]),
        "fade": .number(0.5),
      ], for: frame.geometry)
    let operation = try #require(plan.sceneStages.first?.request)
    let isAdopted = stage.adopt(operation)
    #expect(isAdopted)
    let drawn = try await StickerScene.scene(&stage, [face], on: frame, at: .milliseconds(600))
    #expect(abs(Self.opacity(try await scene.run(plan, drawn, on: frame)) - 0.7) < 0.01)
    let isOtherAdopted = stage.adopt(OtherOperation())
    #expect(!isOtherAdopted)
  }

  private struct OtherOperation: SceneOperation, StagedRequest {
    let summary = ""
    var faces: FaceRequest? { nil }
    func makeStage() -> any SceneStage { preconditionFailure("not used") }
    func makePass(_ setting: PassSetting, index: Int) -> any Pass {
      preconditionFailure("not used")
    }
  }

  @Test func `the chosen faces carry the image`() async throws {
    let scene = StickerScene(["sticker": try Self.white()])
    let frame = try Self.black(128, 64)
    let faces = [StickerScene.face(3, 32, 32, 20), StickerScene.face(5, 96, 32, 30)]
    for (choice, left, right) in [
      (["which": .text("all")], 1.0, 1.0), ([:], 0, 1),
      (["which": .text("id"), "id": .number(3)], 1, 0),
      (["which": .text("id"), "id": .number(4)], 0, 0),
    ] as [(StickerScene.Parameters, Double, Double)] {
      let result = try await scene.draw(choice, faces, on: frame)
      #expect(Self.opacity(result, 32, 32) == left)
      #expect(Self.opacity(result, 96, 32) == right)
    }
  }

  @Test func `a face without a chosen successor fades out`() async throws {
    let scene = StickerScene(["sticker": try Self.white()])
    let frame = try Self.black(128, 64)
    let faces = [StickerScene.face(3, 32, 32, 20), StickerScene.face(5, 96, 32, 30)]
    let all = try scene.plan(["which": .text("all"), "fade": .number(0.4)], for: frame.geometry)
    var stage = try scene.stage(all)
    for step in 0 ..< 5 {
      _ = try await StickerScene.scene(&stage, faces, on: frame, at: .milliseconds(100 * step))
    }
    let one = try scene.plan(
      ["which": .text("id"), "id": .number(5), "fade": .number(0.4)], for: frame.geometry)
    let isAdopted = stage.adopt(try #require(one.sceneStages.first?.request))
    #expect(isAdopted)
    let drawn = try await StickerScene.scene(&stage, faces, on: frame, at: .milliseconds(500))
    let result = try await scene.run(one, drawn, on: frame)
    #expect(abs(Self.opacity(result, 32, 32) - 0.75) < 0.01)
    #expect(Self.opacity(result, 96, 32) == 1)
  }

  // MARK: Plans

  @Test func `anchors on faces need tools`() throws {
    let sticker = Asset.image(try Self.white())
    let store = AssetStore()
    store.put(sticker, named: "sticker")
    var catalogue = FilterCatalogue.builtIn
    catalogue.assets = store
    func overlay(_ anchor: String, tools: FaceTools?) -> Overlay {
      var values: [String: ParameterValue] = [:]
      for parameter in Overlay.description.parameters {
        values[parameter.name] =
          parameter.kind == .point
          ? .point(FramePoint(x: Length(0), y: Length(0))) : parameter.defaultValue
      }
      values["anchor"] = .text(anchor)
      return Overlay(Arguments(values: values, assets: ["asset": sticker]), tools: tools)
    }
    for anchor in FaceAnchor.allCases.map(\.rawValue) {
      #expect(
        overlay(anchor, tools: nil).unavailability == "this server is built without Vision")
      #expect(overlay(anchor, tools: StickerScene.tools).unavailability == nil)
      #expect(overlay(anchor, tools: nil).usesScene)
    }
    #expect(overlay("frame", tools: nil).unavailability == nil)
    #expect(!overlay("frame", tools: StickerScene.tools).usesScene)
    let geometry = FrameGeometry(format: .bgra8, size: FrameSize(width: 64, height: 48))
    let frame = try catalogue.resolve([.filter("overlay", ["asset": .text("sticker")])])
    #expect(frame.plan(for: geometry).sceneStages.isEmpty)
    #expect(!frame.plan(for: geometry).isIdentity)
  }

  @Test func `plans share the reductions of an image and release them`() throws {
    let image = try Self.white(64, 64)
    let scene = StickerScene(["sticker": image])
    let geometry = FrameGeometry(format: .bgra8, size: FrameSize(width: 64, height: 48))
    weak var first: ImagePyramid?
    do {
      let plan = try scene.plan([:], for: geometry)
      first = image.pyramid
      #expect(first != nil)
      let second = try scene.plan(["opacity": .number(0.5)], for: geometry)
      #expect(image.pyramid === first)
      #expect(plan.byteCost == second.byteCost)
      // 32x32 + 16x16 + ... pixels of eight bytes, and the padding of rows.
      #expect(plan.byteCost >= 8 * 1365 && plan.byteCost < 40 * 1365)
      withExtendedLifetime((plan, second)) {}
    }
    #expect(first == nil)
  }

  @Test func `an invisible image has no stage`() throws {
    let scene = StickerScene(["sticker": try Self.white()])
    let geometry = FrameGeometry(format: .bgra8, size: FrameSize(width: 64, height: 48))
    for parameters in [["opacity": .number(0)], ["scale": .number(0)]] as [StickerScene.Parameters]
    {
      #expect(try scene.plan(parameters, for: geometry).isIdentity)
    }
  }
}
