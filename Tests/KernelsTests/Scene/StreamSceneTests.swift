import SidelightKernels
import SidelightScene
import Testing

/// The scene of a stream, with searches off the frame's path. A finder finds the bright square of a
/// frame, and optical flow is disabled.
@Suite struct `The scene of a plan` {
  struct Broken: Error {}

  struct BrightFinder: FaceFinder {
    var fails = false

    func faces(in picture: LumaPicture) throws -> [DetectedFace] {
      if self.fails { throw Broken() }
      let places = picture.samples.indices.filter { picture.samples[$0] > 128 }
      guard !places.isEmpty else { return [] }
      let xs = places.map { Double($0 % picture.width) + 0.5 }
      let ys = places.map { Double($0 / picture.width) + 0.5 }
      let count = Double(places.count)
      return [
        DetectedFace(
          center: PicturePoint(x: xs.reduce(0, +) / count, y: ys.reduce(0, +) / count),
          size: count.squareRoot())
      ]
    }
  }

  struct NoPoints: PointTracker {
    func points(of box: FaceBox, in picture: LumaPicture) -> [PicturePoint] { [] }

    func follow(
      _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
    ) -> [PicturePoint?] { [] }
  }

  /// A filter whose drawing is the report of the faces.
  struct Reporter: SceneFilter, SceneOperation, StagedRequest {
    var name = "reporter"
    var tools: FaceTools?
    var configuration = FaceTracker.Configuration()
    var fails = false

    var description: FilterDescription {
      FilterDescription(
        name: self.name, summary: "Reports.", category: .effect, reach: .frame,
        fidelity: .formula, formula: "none")
    }
    var summary: String { "a report" }
    var faces: FaceRequest? { self.tools.map { FaceRequest(self.configuration, tools: $0) } }

    func nodes(for geometry: FrameGeometry) -> [FilterNode] { [.scene(self)] }
    func makeStage() -> any SceneStage { ReporterStage(fails: self.fails) }
    func makePass(_ setting: PassSetting, index: Int) -> any Pass {
      NoPass(description: setting.description)
    }
  }

  struct ReporterStage: SceneStage {
    let fails: Bool
    func adopt(_ request: any SceneRequest) -> Bool { request is Reporter }
    func step(_ view: SceneView) throws -> any Sendable {
      if self.fails { throw Broken() }
      return view.faces ?? FaceReport(frame: view.time)
    }
  }

  struct NoPass: Pass {
    let description: PassDescription
    func run(_ context: PassContext) {}
  }

  static func tools(fails: Bool = false) -> FaceTools {
    FaceTools(finder: { BrightFinder(fails: fails) }, points: { NoPoints() })
  }

  static func plan(_ filters: [Reporter]) throws -> Plan {
    var catalogue = FilterCatalogue()
    for filter in filters { catalogue.register(filter) }
    return try catalogue.resolve(Pipeline(stages: filters.map { .filter($0.name) }))
      .plan(for: Self.geometry)
  }

  static let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 160, height: 90))

  /// A dark frame with a bright square of 30 pixels.
  static func frame(x: Int?) throws -> Frame {
    var frame = try BufferPool().makeFrame(Self.geometry)
    for y in 0 ..< 90 {
      frame.withMutableRow(y, plane: 0) { row in
        unsafe row.withUnsafeMutableBytes { samples in
          for place in samples.indices {
            let isFace = x.map { ($0 ..< $0 + 30).contains(place) && (30 ..< 60).contains(y) }
            unsafe samples[place] = isFace == true ? 200 : 40
          }
        }
      }
    }
    return frame.finish()
  }

  static func time(_ index: Int) -> FrameTime {
    FrameTime(index: UInt64(index), arrival: .milliseconds(33 * index))
  }

  static func report(_ scene: FrameScene, _ index: Int = 0) throws -> FaceReport {
    try #require(scene.drawing(of: index, as: FaceReport.self))
  }

  @Test func `a search that takes a while finds the face where it was searched`() async throws {
    var scene = StreamScene()
    let plan = try Self.plan([Reporter(tools: Self.tools())])
    let frame = try Self.frame(x: 50)
    var pending: [StreamScene.Job] = []
    var found: Int?
    for index in 0 ..< 30 {
      let drawn = try await scene.step(frame, at: Self.time(index), for: plan)
      let faces = try Self.report(drawn).faces
      if let face = faces.first, found == nil {
        found = index
        #expect(abs(face.rawBox.center.x - 65) < 1 && abs(face.rawBox.size - 30) < 1)
      }
      // A job returns three frames after it was taken; a second one isn't planned meanwhile.
      if index % 4 == 3 {
        for job in pending { scene.finish(await job.run()) }
        pending = []
      }
      let jobs = scene.takeJobs()
      #expect(pending.isEmpty || jobs.isEmpty)
      #expect(jobs.allSatisfy { $0.name == "faceSearch" })
      pending += jobs
    }
    let first = try #require(found)
    #expect((4 ..< 12).contains(first))
  }

  @Test func `a search that never returns, or throws, is reported as failing`() async throws {
    for fails in [false, true] {
      var scene = StreamScene()
      let plan = try Self.plan([
        Reporter(tools: Self.tools(fails: fails), configuration: .init(protects: true))
      ])
      var jobs = 0
      var isFailing = false
      for index in 0 ..< 120 {
        let drawn = try await scene.step(
          try Self.frame(x: 50), at: Self.time(index), for: plan)
        isFailing = try Self.report(drawn).search.isFailing
        for job in scene.takeJobs() {
          jobs += 1
          if fails { scene.finish(await job.run()) }
        }
      }
      #expect(isFailing)
      #expect(fails ? jobs > 20 : jobs == 1, "a search that hangs occupies one thread only")
    }
  }

  @Test func `stages share the faces, with the settings of the strictest`() throws {
    let plan = try Self.plan([
      Reporter(
        name: "one", tools: Self.tools(),
        configuration: .init(protects: false, maxFaces: 3, minSize: 0.2)),
      Reporter(
        name: "two", tools: Self.tools(),
        configuration: .init(protects: true, maxFaces: 2, minSize: 0.3)),
      Reporter(name: "three"),
    ])
    let joined = try #require(FaceRequest(joining: plan.sceneStages)).configuration
    #expect(joined == .init(protects: true, maxFaces: 3, minSize: 0.2))
    #expect(plan.passes.map(\.name) == ["faceTrack", "one", "two", "three"])
    #expect(plan.passes[0].filters == ["one", "two"])
    #expect(try Self.plan([Reporter()]).passes.map(\.name) == ["reporter"])
  }

  @Test func `faces keep their ids when the pipeline changes`() async throws {
    var scene = StreamScene(searching: .immediate)
    let frame = try Self.frame(x: 50)
    var ids: Set<Int> = []
    for index in 0 ..< 40 {
      let name = index < 20 ? "one" : "two"
      let plan = try Self.plan([
        Reporter(
          name: name, tools: Self.tools(), configuration: .init(maxFaces: index < 20 ? 1 : 2))
      ])
      let drawn = try await scene.step(frame, at: Self.time(index), for: plan)
      ids.formUnion(try Self.report(drawn).faces.map(\.id.value))
    }
    #expect(ids == [1])
  }

  @Test func `a step that throws names its filter`() async throws {
    var scene = StreamScene()
    let plan = try Self.plan([Reporter(name: "one"), Reporter(name: "two", fails: true)])
    let frame = try Self.frame(x: nil)
    let failure = await #expect(throws: StreamScene.Failure.self) {
      try await scene.step(frame, at: Self.time(0), for: plan)
    }
    #expect(failure?.filter == "two" && failure?.cause is Broken)
  }

  @Test func `a still image is searched until its faces are certain`() async throws {
    let plan = try Self.plan([
      Reporter(tools: Self.tools(), configuration: .init(protects: true))
    ])
    let drawn = try await StreamScene.still(
      try Self.frame(x: 50), at: FrameTime(index: 7), for: plan)
    let report = try Self.report(drawn)
    #expect(report.faces.count == 1)
    #expect(report.search.lastSuccess == report.frame)
    let empty = try await StreamScene.still(try Self.frame(x: nil), at: FrameTime(), for: plan)
    #expect(try Self.report(empty).faces.isEmpty)
  }

  /// An analysis that reports the ids of the scene's faces.
  struct Ids: SceneAnalysis {
    let tools: FaceTools
    var everyNth: Int { 1 }
    var request: any SceneRequest { IdRequest(tools: self.tools) }

    func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] { [:] }
  }

  struct IdRequest: StagedRequest {
    let tools: FaceTools
    var stepSummary: String { "ids" }
    var faces: FaceRequest? { FaceRequest(.init(), tools: self.tools) }
    func makeStage() -> any SceneStage { IdStage() }
  }

  struct IdStage: SceneStage {
    var ids: [Double] = []
    func adopt(_ request: any SceneRequest) -> Bool { request is IdRequest }
    mutating func step(_ view: SceneView) -> any Sendable {
      self.ids = view.faces?.faces.map { Double($0.id.value) } ?? []
      return true
    }
    func takeReport() -> [String: AnalysisValue]? { ["ids": .vector(self.ids)] }
  }

  @Test func `an analysis reads the scene that other stages need, and runs alone otherwise`()
    async throws
  {
    let frame = try Self.frame(x: 50)
    for needsFaces in [true, false] {
      var catalogue = FilterCatalogue()
      catalogue.register(Reporter(tools: needsFaces ? Self.tools() : nil))
      catalogue.register(CustomFilter("ids", "Ids.", analysis: Ids(tools: Self.tools())))
      let plan = try catalogue.resolve([.filter("ids"), .filter("reporter")])
        .plan(for: Self.geometry)
      #expect(plan.analyses.map(\.isInScene) == [needsFaces])
      #expect(plan.sceneStages.map(\.filter) == (needsFaces ? ["reporter", "ids"] : ["reporter"]))
      guard needsFaces else { continue }
      var scene = StreamScene(searching: .immediate)
      var drawn: FrameScene?
      for index in 0 ..< 20 {
        drawn = try await scene.step(frame, at: Self.time(index), for: plan)
      }
      let faces = try Self.report(try #require(drawn)).faces
      let report = try #require(scene.takeReports().first)
      #expect(report.filter == "ids" && report.stage == "stages[0]")
      #expect(report.values["ids"] == .vector(faces.map { Double($0.id.value) }))
      #expect(faces.count == 1)
    }
  }
}
