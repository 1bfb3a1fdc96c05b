import SidelightKernels
import SidelightScene
import Testing

/// The stages of `faceBlur` and `facePixellate` on simulated scenes.
@Suite struct `Privacy stages` {
  typealias Scenes = `Privacy in scenes`

  /// The view of a frame that a session has.
  static func view(_ frame: Int, _ faces: [SimulatedScene.Face?], _ report: FaceReport?) throws
    -> SceneView
  {
    let picture = Scenes.picture(faces, frame: frame)
    let stored = try TestFrame.make(
      FrameGeometry(
        format: .gray8, size: FrameSize(width: picture.width, height: picture.height)),
      padding: .packed
    ) { _, x, y, _ in picture.samples[y * picture.width + x] }
    return SceneView(
      of: stored, time: SimulatedScene.time(frame), picture: UprightPicture(reducing: stored),
      faces: report)
  }

  struct Figures {
    /// Frames that show more than 10 % of a face.
    var exposed = 0
    /// The same, if tracked faces are covered without the rules.
    var exposedWithoutRules = 0
    var whole = 0
  }

  /// Runs the hard sequence through a stage.
  static func run(
    seed: UInt64, change: (Int, inout any SceneStage) throws -> Void = { _, _ in },
    finder: @escaping (Int) -> SimulatedScene.Finder
  ) async throws -> Figures {
    let operation = try FaceCoverBench().operation("faceBlur")
    let request = try #require(operation.faces)
    var scene = SimulatedScene(
      width: Scenes.width, height: Scenes.height, seed: seed, tracking: request.configuration,
      faces: Scenes.hardSequence)
    scene.finder = finder
    var stage = operation.makeStage()
    var figures = Figures()
    for frame in 0 ..< 180 {
      try change(frame, &stage)
      if stage.needsFaceSearch { scene.tracker.requestSearch() }
      let report = scene.step(frame)
      let faces = Scenes.hardSequence(frame)
      let drawing = try await stage.step(try Self.view(frame, faces, report))
      let coverage = try #require(drawing as? FaceCoverage)
      let tracked = FaceCoverage.regions(
        report.faces.map { face in
          CoveredRegion(
            shape: .ellipse, center: face.rawBox.center, radiusX: 0.62 * face.rawBox.size,
            radiusY: 0.74 * face.rawBox.size, roll: face.rawBox.roll, cell: 6)
        })
      func isExposed(_ coverage: FaceCoverage) -> Bool {
        faces.contains { $0.map { Scenes.exposure($0, coverage) > 0.1 } ?? false }
      }
      if isExposed(coverage) { figures.exposed += 1 }
      if isExposed(tracked) { figures.exposedWithoutRules += 1 }
      if coverage.isWhole { figures.whole += 1 }
    }
    return figures
  }

  @Test(arguments: ["finds", "never", "throws", "half", "throws later"])
  func `the hard sequence shows no face, whatever the finder does`(_ kind: String) async throws {
    for seed in UInt64(1) ... 2 {
      let figures = try await Self.run(seed: seed) { frame in
        switch kind {
        case "finds": .finds(1)
        case "never": .finds(0)
        case "throws": .fails
        case "half": .finds(0.5)
        default: frame < 40 ? .finds(1) : .fails
        }
      }
      #expect(figures.exposed == 0, "\(figures)")
      #expect(figures.exposedWithoutRules > 5, "\(figures)")
      if kind == "finds" { #expect(figures.whole < 120, "\(figures)") }
    }
  }

  @Test func `parameters and the look change in the hard sequence without showing a face`()
    async throws
  {
    let bench = FaceCoverBench()
    let plain = try await Self.run(seed: 3) { _ in .finds(1) }
    let figures = try await Self.run(
      seed: 3,
      change: { frame, stage in
        let operation = try bench.operation(
          FaceCoverBench.filters[frame % 2],
          [
            "strength": .number(1 + Double(frame % 3)),
            "grow": .number(0.24 + 0.01 * Double(frame % 5)),
          ])
        let isAdopted = stage.adopt(operation)
        #expect(isAdopted)
      }, finder: { _ in .finds(1) })
    #expect(figures.exposed == 0, "\(figures)")
    // The memory is kept: the frame is not covered more often.
    #expect(figures.whole <= plain.whole + 2, "\(figures) \(plain)")
    let fresh = try await Self.run(
      seed: 3, change: { _, stage in stage = try bench.operation("faceBlur").makeStage() },
      finder: { _ in .finds(1) })
    #expect(fresh.whole > plain.whole + 20, "\(fresh) \(plain)")
  }

  /// A report of a face that was detected in the frame, which was searched at all angles.
  static func report(_ frame: Int, first: Int = 0) -> FaceReport {
    var report = FaceReport(frame: SimulatedScene.time(frame))
    report.search.lastSuccess = report.frame
    report.search.emptySince = FaceTracker.searchAngles.map { [frame = report.frame] _ in frame }
    report.search.isStarted = true
    report.search.completed = `Unsearched content`.searches(frame)
    report.faces = [
      .sample(
        1, FaceBox(center: PicturePoint(x: 80, y: 45), size: 30), at: frame, first: first, age: 0,
        missedLooks: 0, isFollowed: true, displacement: PicturePoint(x: 0, y: 0))
    ]
    return report
  }

  static func step(
    _ stage: inout any SceneStage, _ frame: Int, _ report: FaceReport?
  ) async throws -> FaceCoverage {
    let faces = (report?.faces ?? []).map { SimulatedScene.Face(box: $0.rawBox) }
    return try #require(try await stage.step(try Self.view(frame, faces, report)) as? FaceCoverage)
  }

  @Test(arguments: FaceCoverBench.filters)
  func `a stage without a report of faces covers the frame`(_ filter: String) async throws {
    var stage = try FaceCoverBench().operation(filter).makeStage()
    #expect(stage.needsFaceSearch)
    for frame in 0 ..< 3 { _ = try await Self.step(&stage, frame, Self.report(frame)) }
    #expect(try await !Self.step(&stage, 3, Self.report(3)).isWhole)
    #expect(!stage.needsFaceSearch)
    #expect(try await Self.step(&stage, 4, nil).isWhole)
    #expect(stage.needsFaceSearch)
    // Too old.
    #expect(try await Self.step(&stage, 5, Self.report(4)).isWhole)
    #expect(try await !Self.step(&stage, 6, Self.report(6)).isWhole)
  }

  @Test func `another face with the id of the last one is not taken for it`() async throws {
    var stage = try FaceCoverBench().operation("faceBlur").makeStage()
    for frame in 0 ..< 3 { _ = try await Self.step(&stage, frame, Self.report(frame)) }
    var other = Self.report(3, first: 3)
    other.faces = [
      .sample(
        1, FaceBox(center: PicturePoint(x: 140, y: 30), size: 20), at: 3, first: 3, age: 0,
        missedLooks: 0, isFollowed: true, displacement: PicturePoint(x: 0, y: 0))
    ]
    #expect(try await Self.step(&stage, 3, other) == .whole(.faceLost))
  }

  @Test func `new settings apply at once and forget nothing`() async throws {
    let bench = FaceCoverBench()
    var stage = try bench.operation("faceBlur").makeStage()
    for frame in 0 ..< 3 { _ = try await Self.step(&stage, frame, Self.report(frame)) }
    func radius(_ frame: Int) async throws -> Double {
      guard case .regions(let regions) = try await Self.step(&stage, frame, Self.report(frame))
      else {
        return .nan
      }
      return regions[0].radiusX
    }
    #expect(try await radius(3) == 0.62 * 30)
    let mosaic = try bench.operation("facePixellate", ["grow": .number(1)])
    var isAdopted = stage.adopt(mosaic)
    #expect(isAdopted)
    #expect(try await radius(4) == 30)
    // A lost face stays lost, and with `hold` its place is covered.
    var empty = Self.report(5)
    empty.faces = []
    #expect(try await Self.step(&stage, 5, empty) == .whole(.faceLost))
    isAdopted = stage.adopt(try bench.operation("faceBlur", ["whenUnsure": .text("hold")]))
    #expect(isAdopted)
    empty.frame = SimulatedScene.time(6)
    #expect(try await !Self.step(&stage, 6, empty).isWhole)
    isAdopted = stage.adopt(try bench.operation("faceBlur"))
    #expect(isAdopted)
    empty.frame = SimulatedScene.time(7)
    #expect(try await Self.step(&stage, 7, empty) == .whole(.faceLost))
    isAdopted = stage.adopt(OtherRequest(privacy: try bench.operation("faceBlur")))
    #expect(!isAdopted)
  }

  @Test func `a stage reports why the whole frame is covered, and since when`() async throws {
    var stage = try FaceCoverBench().operation("faceBlur").makeStage()
    func report(_ frame: Int, _ faces: FaceReport?) async throws -> [String: AnalysisValue]? {
      _ = try await Self.step(&stage, frame, faces)
      return stage.takeReport()
    }
    func whole(_ reason: String, _ seconds: Double) -> [String: AnalysisValue] {
      ["wholeFrame": .text(reason), "wholeFrameSeconds": .number(seconds)]
    }
    var empty = Self.report(0)
    empty.faces = []
    #expect(try await report(0, empty) == whole("searching", 0))
    // At the change, and then every second.
    for frame in 1 ..< 32 {
      empty.frame = SimulatedScene.time(frame)
      let seconds = Double(frame) * (SimulatedScene.frameTime / .seconds(1))
      let isDue = frame == 31
      #expect(try await report(frame, empty) == (isDue ? whole("searching", seconds) : nil))
    }
    #expect(try await report(32, Self.report(32, first: 32)) == whole("", 0))
    #expect(try await report(33, Self.report(33, first: 32)) == nil)
    #expect(try await report(34, nil) == whole("fault", 0))
    empty.frame = SimulatedScene.time(35)
    #expect(try await report(35, empty) == nil)
  }

  /// A request of another type for the same stage.
  struct OtherRequest: StagedRequest {
    let privacy: any StagedRequest
    var faces: FaceRequest? { self.privacy.faces }
    var stepSummary: String { self.privacy.stepSummary }
    func makeStage() -> any SceneStage { self.privacy.makeStage() }
  }

  @Test func `the filters protect, and state their settings`() throws {
    for filter in FaceCoverBench.filters {
      let operation = try FaceCoverBench().operation(
        filter, ["minSize": .number(0.3), "maxFaces": .number(3)])
      let wanted = FaceTracker.Configuration(protects: true, maxFaces: 3, minSize: 0.3)
      #expect(operation.faces?.configuration == wanted)
    }
    let tools = FaceTools(
      finder: { `The scene of a stream`.Finder(truth: { _ in [] }) },
      points: { `The scene of a stream`.Flow(truth: { _ in [] }) })
    for style in [FacePrivacyFilter.Style.blur, .mosaic] {
      let description =
        style == .blur ? FacePrivacyFilter.blurDescription : FacePrivacyFilter.pixellateDescription
      let values = Dictionary(
        uniqueKeysWithValues: description.parameters.compactMap { parameter in
          parameter.defaultValue.map { (parameter.name, $0) }
        })
      let filter = FacePrivacyFilter(Arguments(values: values), style: style, tools: tools)
      #expect(filter.protects)
      #expect(filter.description == description)
    }
  }
}
