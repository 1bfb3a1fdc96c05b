import SidelightKernels
import SidelightScene
import Testing

/// Scene stages of two plans that are stepped together.
@Suite struct `The scene of two plans in a transition` {
  /// A filter whose drawing is its name and the number of frames that its stage has seen.
  struct Counter: SceneFilter, SceneOperation, StagedRequest {
    var name = "counter"
    var label = "a"
    var isCopyable = true

    var description: FilterDescription {
      FilterDescription(
        name: self.name, summary: "Counts.", category: .effect, reach: .frame,
        fidelity: .formula, formula: "none")
    }
    var summary: String { "a count" }
    var faces: FaceRequest? { nil }
    func nodes(for geometry: FrameGeometry) -> [FilterNode] { [.scene(self)] }
    func makeStage() -> any SceneStage { CounterStage(name: self.name, label: self.label) }
    func makePass(_ setting: PassSetting, index: Int) -> any Pass {
      NoPass(description: setting.description)
    }
  }

  struct CounterStage: SceneStage {
    let name: String
    var label: String
    var count = 0

    mutating func adopt(_ request: any SceneRequest) -> Bool {
      guard let counter = request as? Counter, counter.name == self.name else { return false }
      self.label = counter.label
      return true
    }

    mutating func step(_ view: SceneView) -> any Sendable {
      self.count += 1
      return "\(self.label)\(self.count)"
    }
  }

  struct NoPass: Pass {
    let description: PassDescription
    func run(_ context: PassContext) {}
  }

  static func plan(_ filters: [Counter]) throws -> Plan {
    var catalogue = FilterCatalogue()
    for filter in filters { catalogue.register(filter) }
    return try catalogue.resolve(Pipeline(stages: filters.map { .filter($0.name) }))
      .plan(for: Self.geometry)
  }

  static let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 16, height: 8))

  static func drawings(_ scene: FrameScene?, _ count: Int) -> [String?] {
    (0 ..< count).map { scene?.drawing(of: $0, as: String.self) }
  }

  @Test func `both have the state of the stages before`() async throws {
    let frame = try TestFrame.flat(Self.geometry, 90)
    let first = try Self.plan([Counter()])
    let second = try Self.plan([Counter(label: "b"), Counter(name: "other", label: "c")])
    var scene = StreamScene()
    for _ in 0 ..< 2 { _ = try await scene.step(frame, at: FrameTime(), for: first) }
    for index in 3 ... 4 {
      let drawn = try await scene.step(frame, at: FrameTime(), for: second, from: first)
      #expect(Self.drawings(drawn.earlier, 1) == ["a\(index)"])
      #expect(Self.drawings(drawn.later, 2) == ["b\(index)", "c\(index - 2)"])
    }
    let after = try await scene.step(frame, at: FrameTime(), for: second)
    #expect(Self.drawings(after, 2) == ["b5", "c3"])
  }

  @Test func `leads from stages to none, and back`() async throws {
    let frame = try TestFrame.flat(Self.geometry, 90)
    let (plan, none) = (try Self.plan([Counter()]), try Self.plan([]))
    var scene = StreamScene()
    _ = try await scene.step(frame, at: FrameTime(), for: plan)
    let out = try await scene.step(frame, at: FrameTime(), for: none, from: plan)
    #expect(Self.drawings(out.earlier, 1) == ["a2"])
    let back = try await scene.step(frame, at: FrameTime(), for: plan)
    #expect(Self.drawings(back, 1) == ["a1"], "the transition was over without the stage")
  }

  @Test func `is possible for copyable stages only`() throws {
    #expect(try Self.plan([Counter()]).allowsMixing)
    #expect(try !Self.plan([Counter(), Counter(name: "other", isCopyable: false)]).allowsMixing)
    #expect(try Self.plan([]).allowsMixing)
  }
}
