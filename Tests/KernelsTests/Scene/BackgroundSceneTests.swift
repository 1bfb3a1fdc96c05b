import SidelightKernelLanguage
import SidelightKernels
import SidelightScene
import Testing

/// Frames of simulated scenes for the background filters.
enum BackgroundSceneSupport {
  static let size = FrameSize(width: 640, height: 360)

  /// A frame with straight alpha, in which the alpha of a result is its matte.
  static func frame(
    _ scene: MatteScene, _ size: FrameSize = Self.size, orientation: Orientation = .upright
  ) throws -> Frame {
    let stored = Self.stored(scene.samples(size), size, orientation)
    let layout = try FrameLayout(aligned: .rgba8, size: stored.size)
    var frame = BufferPool().makeFrame(
      layout: layout, color: ColorDescription(alpha: .straight), orientation: orientation)
    for y in 0 ..< stored.size.height {
      frame.withMutableRow(y) { row in
        for x in 0 ..< stored.size.width {
          for channel in 0 ..< 4 {
            let level =
              channel == 3 ? 255 : stored.samples[3 * (y * stored.size.width + x) + channel]
            row.storeBytes(of: level, toByteOffset: 4 * x + channel, as: UInt8.self)
          }
        }
      }
    }
    return frame.finish()
  }

  /// A displayed picture as a frame of an orientation stores it.
  static func stored(
    _ samples: [UInt8], _ size: FrameSize, _ orientation: Orientation, channels: Int = 3
  ) -> (samples: [UInt8], size: FrameSize) {
    var (samples, size) = (samples, size)
    for _ in 0 ..< orientation.quarterTurns {
      // Counterclockwise.
      let (width, height) = (size.width, size.height)
      samples = (0 ..< width * height).flatMap { index -> [UInt8] in
        let (x, y) = (index % height, index / height)
        let start = channels * (x * width + width - 1 - y)
        return Array(samples[start ..< start + channels])
      }
      size = FrameSize(width: height, height: width)
    }
    if orientation.isMirrored {
      samples = (0 ..< size.pixelCount).flatMap { index -> [UInt8] in
        let (x, y) = (index % size.width, index / size.width)
        let start = channels * (y * size.width + size.width - 1 - x)
        return Array(samples[start ..< start + channels])
      }
    }
    return (samples, size)
  }

  /// The alpha of a frame's pixels.
  static func alpha(_ frame: Frame) -> [Double] {
    let samples = frame.samples[0]
    return (0 ..< frame.size.pixelCount).map { Double(samples[4 * $0 + 3]) / 255 }
  }

  /// A catalogue with a picture of the empty room as the asset `room`.
  static func catalogue(
    _ background: MatteScene.Background, tools: MatteTools = MatteTools()
  ) throws -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerBackgrounds(tools)
    let room = MatteScene(
      background: background, light: .init(noise: 1), hasPerson: false, seed: 99)
    catalogue.assets = AssetStore(["room": .image(try ImageAsset(try Self.frame(room)))])
    return catalogue
  }
}

/// A session's frames through the stage and the pass of a filter.
struct BackgroundSession {
  let bench: TestBench
  let pipeline: Pipeline
  var scene = StreamScene()
  var index: UInt64 = 0
  var reports: [[String: AnalysisValue]] = []
  /// The time from frame to frame.
  var interval = Duration.milliseconds(40)
  /// Whether jobs run at once.
  var runsJobs = true

  init(_ catalogue: FilterCatalogue, _ stage: Stage) {
    var bench = TestBench()
    bench.catalogue = catalogue
    self.bench = bench
    self.pipeline = [stage]
  }

  mutating func drawing(on frame: Frame, isReduced: Bool = false) async throws -> BackgroundDrawing?
  {
    try await self.step(frame, isReduced: isReduced).scene.drawing(
      of: 0, as: BackgroundDrawing.self)
  }

  mutating func run(_ frame: Frame) async throws -> Frame {
    let (plan, time, scene) = try await self.step(frame, isReduced: false)
    return try await self.bench.executor.run(plan, on: frame, at: time, scene: scene)
  }

  private mutating func step(
    _ frame: Frame, isReduced: Bool
  ) async throws -> (plan: Plan, time: FrameTime, scene: FrameScene) {
    let plan = try self.bench.catalogue.resolve(self.pipeline).plan(for: frame.geometry)
    let time = FrameTime(index: self.index, arrival: self.interval * Int(self.index))
    self.index += 1
    let scene = try await self.scene.step(frame, at: time, for: plan, isReduced: isReduced)
    self.reports += self.scene.takeReports().map(\.values)
    if self.runsJobs {
      for job in self.scene.takeJobs() { self.scene.finish(await job.run()) }
    }
    return (plan, time, scene)
  }

  /// The numbers of that name in the reports.
  func numbers(_ name: String) -> [Double] {
    self.reports.compactMap { if case .number(let value)? = $0[name] { value } else { nil } }
  }
}

/// Mattes of plates and keys, from the stage to the frame.
@Suite struct `Backgrounds of scenes` {
  static let backgrounds: [MatteScene.Background] = [.wall([0.7, 0.68, 0.64]), .room]

  static let conditions: [(name: String, light: MatteScene.Light, least: Double)] = [
    ("calm", .init(noise: 2), 0.97),
    ("noise 10", .init(noise: 10), 0.97),
    ("shadow", .init(shadow: 0.4, noise: 2), 0.95),
    ("lamp", .init(gains: [1.2, 1.08, 0.92], noise: 2), 0.97),
  ]

  @Test(arguments: Self.backgrounds.indices, Self.conditions.indices)
  func `the plate finds the person`(_ background: Int, _ condition: Int) async throws {
    let (name, light, least) = Self.conditions[condition]
    var session = BackgroundSession(
      try BackgroundSceneSupport.catalogue(Self.backgrounds[background]),
      .filter("virtualBackground", ["plate": .text("room")]))
    var scene = MatteScene(background: Self.backgrounds[background], light: light)
    var result = try await session.run(try BackgroundSceneSupport.frame(scene))
    for seed in 2 ... 3 {
      scene.seed = UInt64(seed)
      result = try await session.run(try BackgroundSceneSupport.frame(scene))
    }
    let overlap = MatteScene.overlap(
      scene.truth(BackgroundSceneSupport.size), BackgroundSceneSupport.alpha(result))
    #expect(overlap >= least, "\(name)")
  }

  @Test func `the key finds the person before a green wall in uneven light`() async throws {
    let scene = MatteScene(
      background: .wall(MatteScene.green),
      light: .init(shadow: 0.45, noise: 8, spill: 0.2, unevenness: 0.35))
    var session = BackgroundSession(
      try BackgroundSceneSupport.catalogue(.room),
      .filter("virtualBackground", ["matte": .text("key")]))
    let result = try await session.run(try BackgroundSceneSupport.frame(scene))
    let overlap = MatteScene.overlap(
      scene.truth(BackgroundSceneSupport.size), BackgroundSceneSupport.alpha(result))
    #expect(overlap >= 0.99)
    // A room without the colour doesn't have a background to replace.
    let room = try BackgroundSceneSupport.frame(MatteScene(background: .room))
    guard case .unsure = try await session.drawing(on: room) else {
      Issue.record("a room without the key colour is not sure")
      return
    }
  }

  static let orientations = (0 ..< 8).map {
    Orientation(quarterTurns: $0 % 4, isMirrored: $0 >= 4)
  }

  @Test(arguments: Self.orientations)
  func `turned and mirrored frames have the same matte`(_ orientation: Orientation) async throws {
    let size = FrameSize(width: 480, height: 270)
    // Off the middle, where a wrong direction does not fit.
    let scene = MatteScene(background: .room, light: .init(noise: 2), place: 0.35)
    func result(_ orientation: Orientation) async throws -> Frame {
      var session = BackgroundSession(
        try BackgroundSceneSupport.catalogue(.room),
        .filter("virtualBackground", ["plate": .text("room")]))
      return try await session.run(
        try BackgroundSceneSupport.frame(scene, size, orientation: orientation))
    }
    let upright = try await result(.upright)
    #expect(
      MatteScene.overlap(scene.truth(size), BackgroundSceneSupport.alpha(upright)) >= 0.97)
    let turned = try await result(orientation)
    let expected = BackgroundSceneSupport.stored(
      upright.samples[0], size, orientation, channels: 4)
    #expect(turned.size == expected.size)
    #expect(turned.orientation == orientation)
    #expect(turned.worstDifference(from: [expected.samples]) <= 2)
  }

  @Test func `a cut hides one frame`() async throws {
    let catalogue = try BackgroundSceneSupport.catalogue(.room)
    var session = BackgroundSession(
      catalogue, .filter("virtualBackground", ["plate": .text("room")]))
    let person = try BackgroundSceneSupport.frame(MatteScene(background: .room))
    let dark = try BackgroundSceneSupport.frame(
      MatteScene(background: .room, light: .init(gains: [0.4, 0.4, 0.4])))
    guard case .matte = try await session.drawing(on: person),
      case .unsure = try await session.drawing(on: dark),
      case .matte = try await session.drawing(on: dark)
    else {
      Issue.record("only the frame of the cut is unsure")
      return
    }
  }
}

/// The learning of plates from frames.
@Suite struct `Learned plates` {
  /// A frame of a room with or without a person at a place.
  static func frame(_ place: Double?, _ seed: Int) throws -> Frame {
    try BackgroundSceneSupport.frame(
      MatteScene(
        background: .room, light: .init(noise: 1), place: place ?? 0.5, hasPerson: place != nil,
        seed: UInt64(seed)), FrameSize(width: 320, height: 180))
  }

  @Test func `an empty room becomes the plate, and progress rises`() async throws {
    var session = BackgroundSession(
      try BackgroundSceneSupport.catalogue(.room), .filter("virtualBackground"))
    session.interval = .milliseconds(70)
    // The person moves: the scene neither learns nor shows a background.
    for number in 0 ..< 8 {
      let result = try await session.run(try Self.frame(0.4 + 0.03 * Double(number), number))
      #expect(BackgroundSceneSupport.alpha(result).allSatisfy { $0 == 0 })
    }
    #expect(session.numbers("plateProgress").allSatisfy { $0 < 0.1 })
    #expect(session.numbers("plateReady").isEmpty)
    for number in 0 ..< 32 { _ = try await session.run(try Self.frame(nil, 100 + number)) }
    let progress = session.numbers("plateProgress").drop { $0 == 0 }
    #expect(progress.count > 5)
    #expect(zip(progress, progress.dropFirst()).allSatisfy { $0 < $1 })
    #expect(progress.last == 1)
    #expect(session.numbers("plateReady") == [1])
    // The empty room, and then the person again.
    var result = try await session.run(try Self.frame(nil, 200))
    #expect(BackgroundSceneSupport.alpha(result).allSatisfy { $0 == 0 })
    result = try await session.run(try Self.frame(0.5, 201))
    let truth = MatteScene(background: .room).truth(FrameSize(width: 320, height: 180))
    #expect(MatteScene.overlap(truth, BackgroundSceneSupport.alpha(result)) >= 0.97)
  }

  @Test func `thirty pictures are needed, however slowly they come`() async throws {
    var session = BackgroundSession(
      try BackgroundSceneSupport.catalogue(.room), .filter("backgroundBlur"))
    session.interval = .milliseconds(200)
    let room = try Self.frame(nil, 1)
    for number in 1 ... 30 {
      #expect(session.numbers("plateReady").isEmpty)
      _ = try await session.drawing(on: room)
      _ = number
    }
    #expect(session.numbers("plateReady") == [1])
  }

  @Test func `a motion starts again`() async throws {
    var session = BackgroundSession(
      try BackgroundSceneSupport.catalogue(.room), .filter("virtualBackground"))
    session.interval = .milliseconds(100)
    let (room, person) = (try Self.frame(nil, 1), try Self.frame(0.5, 2))
    for _ in 0 ..< 20 { _ = try await session.drawing(on: room) }
    _ = try await session.drawing(on: person)
    for _ in 0 ..< 29 { _ = try await session.drawing(on: room) }
    #expect(session.numbers("plateReady").isEmpty)
    _ = try await session.drawing(on: room)
    #expect(session.numbers("plateReady") == [1])
  }

  @Test func `without protection the frame is blurred until there is a plate`() async throws {
    let catalogue = try BackgroundSceneSupport.catalogue(.room)
    let person = try Self.frame(0.5, 1)
    var blurred = BackgroundSession(catalogue, .filter("backgroundBlur"))
    let expected = try await blurred.run(person).samples
    #expect(expected != person.samples)
    for name in ["virtualBackground", "backgroundBlur"] {
      var session = BackgroundSession(
        catalogue, .filter(name, ["protect": .flag(false)]))
      #expect(try await session.run(person).samples == expected, "\(name)")
      // With the plate the person is sharp.
      for number in 0 ..< 60 { _ = try await session.run(try Self.frame(nil, 100 + number)) }
      let result = try await session.run(person)
      let middle = 4 * (120 * 320 + 160)
      #expect(result.samples[0][middle ..< middle + 4] == person.samples[0][middle ..< middle + 4])
    }
  }
}

/// Mattes of models and of portraits, by sources of the test.
@Suite struct `Sources of mattes` {
  struct Broken: Error, CustomStringConvertible {
    let description = "the model is broken"
  }

  /// A source that counts its calls.
  final class Script: Sendable {
    let calls = Counter()
    let isSure: @Sendable (Int) throws -> Bool

    init(_ isSure: @escaping @Sendable (Int) throws -> Bool = { _ in true }) {
      self.isSure = isSure
    }

    struct Source: MatteSource {
      let script: Script

      func matte(of picture: ColorPicture, faces: [DetectedFace]) throws -> MatteEstimate {
        let isSure = try self.script.isSure(self.script.calls.next())
        // The right half, at another size than the picture's.
        return MatteEstimate(width: 4, height: 2, values: [0, 0, 1, 1, 0, 0, 1, 1], isSure: isSure)
      }
    }

    var tools: MatteTools { MatteTools(models: ["selfie": { Source(script: self) }]) }
  }

  static func session(
    _ script: Script, _ parameters: [String: ParameterValue] = [:]
  ) throws -> BackgroundSession {
    BackgroundSession(
      try BackgroundSceneSupport.catalogue(.room, tools: script.tools),
      .filter(
        "backgroundBlur", parameters.merging(["matte": .text("selfie")]) { own, _ in own }))
  }

  static func room(_ seed: Int) throws -> Frame { try `Learned plates`.frame(nil, seed) }

  @Test func `a model runs on every second frame, or every fourth`() async throws {
    for (isReduced, expected) in [(false, 4), (true, 2)] {
      let script = Script()
      var session = try Self.session(script)
      for number in 0 ..< 8 {
        guard
          case .matte(let matte) = try await session.drawing(
            on: try Self.room(number), isReduced: isReduced)
        else {
          Issue.record("frame \(number) has no matte")
          continue
        }
        #expect(matte.width == 320)
        #expect(matte.values[90 * 320 + 20] == 0)
        #expect(matte.values[90 * 320 + 300] == 1)
      }
      #expect(script.calls.value == expected)
    }
  }

  @Test func `a model that fails or is not sure hides the frame, and its errors are reported`()
    async throws
  {
    let script = Script { call in
      if call == 1 || call == 2 { throw Broken() }
      return call != 3
    }
    var session = try Self.session(script)
    var isSure: [Bool] = []
    for number in 0 ..< 8 {
      if case .matte = try await session.drawing(on: try Self.room(number)) {
        isSure.append(true)
      } else {
        isSure.append(false)
      }
    }
    // Call 0 is good for two frames; after a failure the next frame tries again.
    #expect(isSure == [true, true, false, false, false, false, true, true])
    let errors = session.reports.compactMap { $0["matteError"] }
    #expect(errors == [.text("the model is broken"), .text("")])
  }

  @Test func `models are choices of the filters, and others are refused`() throws {
    let catalogue = try BackgroundSceneSupport.catalogue(.room, tools: Script().tools)
    let pipeline: Pipeline = [.filter("virtualBackground", ["matte": .text("selfie")])]
    _ = try catalogue.resolve(pipeline)
    #expect(throws: PipelineError.self) { try FilterCatalogue.builtIn.resolve(pipeline) }
  }

  @Test func `without Vision the portrait is refused with the reason`() throws {
    let pipeline: Pipeline = [.filter("backgroundBlur", ["matte": .text("portrait")])]
    let error = try #require(throws: PipelineError.self) {
      try FilterCatalogue.builtIn.resolve(pipeline)
    }
    #expect(error.message.contains("this server is built without Vision"))
  }

  // MARK: - Portraits

  /// Finds a face at a place that the test sets.
  struct Finder: FaceFinder {
    let place: Counter

    func faces(in picture: LumaPicture) -> [DetectedFace] {
      guard self.place.value > 0 else { return [] }
      return [
        DetectedFace(center: PicturePoint(x: Double(self.place.value), y: 60), size: 50)
      ]
    }
  }

  struct Points: PointTracker {
    func points(of box: FaceBox, in picture: LumaPicture) throws -> [PicturePoint] { [] }
    func follow(
      _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
    ) throws -> [PicturePoint?] { [] }
  }

  @Test func `a portrait runs as a job, at most every third frame, and does not protect`()
    async throws
  {
    let script = Script()
    let place = Counter(100)
    let tools = MatteTools(
      faces: FaceTools {
        Finder(place: place)
      } points: {
        Points()
      },
      portrait: { Script.Source(script: script) })
    let catalogue = try BackgroundSceneSupport.catalogue(.room, tools: tools)
    var session = BackgroundSession(
      catalogue, .filter("backgroundBlur", ["matte": .text("portrait")]))
    let frame = try Self.room(1)
    var first: Int?
    for number in 0 ..< 24 {
      let drawing = try await session.drawing(on: frame)
      if case .matte = drawing { first = first ?? number }
      // A confirmed face, a job, and its result.
      #expect(script.calls.value <= number / 3 + 1)
    }
    let found = try #require(first)
    #expect(script.calls.value >= (24 - found) / 3)
    // Without a face the matte is kept for two seconds.
    place.set(0)
    var kept = 0
    for _ in 0 ..< 120 {
      guard case .matte = try await session.drawing(on: frame) else { continue }
      kept += 1
    }
    #expect((40 ... 100).contains(kept))
    let result = try await session.run(frame)
    #expect(result.samples == frame.samples)
    let stage = try catalogue.resolve(session.pipeline).stages[0]
    guard case .filter(_, _, let value) = stage.content else { return }
    #expect((value as? any SceneFilter)?.protects == false)
  }
}
