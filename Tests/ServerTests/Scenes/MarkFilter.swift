import SidelightKernelLanguage
import SidelightKernels
import SidelightScene
import SidelightTestSupport
import Synchronization

/// A scene filter for tests: it fills gray frames with the number of frames that its stage has
/// seen.
struct MarkFilter: SceneFilter {
  struct Broken: Error {}

  static let description = FilterDescription(
    name: "mark", summary: "Fills frames with a number.", category: .effect, reach: .frame,
    fidelity: .formula,
    formula: "The number of frames so far modulo 100, plus 100 for each finished job",
    parameters: [
      ParameterDescription(
        "protects", .flag, default: .flag(false), "Whether the filter protects."),
      ParameterDescription(
        "failsAt", .number, default: .number(-1), limits: -1 ... 1000, "The frame that fails."),
    ])

  let protects: Bool
  let failsAt: Int
  var job: SceneJob?

  init(_ arguments: Arguments, job: SceneJob? = nil) {
    self.protects = arguments.flag("protects")
    self.failsAt = Int(arguments.number("failsAt"))
    self.job = job
  }

  var description: FilterDescription { Self.description }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] { [.scene(Operation(filter: self))] }

  /// A catalogue with the filter.
  static func catalogue(job: SceneJob? = nil) -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(Self.description) { MarkFilter($0, job: job) }
    return catalogue
  }

  struct Operation: SceneOperation, StagedRequest {
    let filter: MarkFilter
    var summary: String { "a number" }
    var stepName: String? { "markStep" }
    var faces: FaceRequest? { nil }

    func makeStage() -> any SceneStage { MarkStage(filter: self.filter) }

    func makePass(_ setting: PassSetting, index: Int) -> any Pass {
      MarkPass(description: setting.description, index: index)
    }
  }

  struct MarkStage: SceneStage {
    var filter: MarkFilter
    var count = 0
    var finished = 0
    var hasStarted = false

    mutating func adopt(_ request: any SceneRequest) -> Bool {
      guard let operation = request as? Operation else { return false }
      self.filter = operation.filter
      return true
    }

    mutating func step(_ view: SceneView) throws -> any Sendable {
      self.count += 1
      if self.count == self.filter.failsAt { throw Broken() }
      return UInt8(self.count % 100 + 100 * self.finished)
    }

    mutating func takeJob() -> SceneJob? {
      guard !self.hasStarted else { return nil }
      self.hasStarted = true
      return self.filter.job
    }

    mutating func finish(_ result: Result<any Sendable, any Error>) {
      if case .success = result { self.finished += 1 }
    }

    mutating func takeReport() -> [String: AnalysisValue]? {
      ["count": .number(Double(self.count))]
    }
  }

  /// A filter that returns its input after the scene was held, as a cover without regions does.
  struct Waiting: SceneFilter, SceneOperation, StagedRequest, SceneStage {
    static let description = FilterDescription(
      name: "waiting", summary: "Waits, and returns its input.", category: .effect, reach: .frame,
      fidelity: .formula, formula: "in",
      parameters: [
        ParameterDescription(
          "protects", .flag, default: .flag(true), "Whether the filter protects.")
      ])

    let gate: Gate
    let protects: Bool
    var description: FilterDescription { Self.description }
    var summary: String { "the input" }
    var faces: FaceRequest? { nil }
    func nodes(for geometry: FrameGeometry) -> [FilterNode] { [.scene(self)] }
    func makeStage() -> any SceneStage { self }
    func makePass(_ setting: PassSetting, index: Int) -> any Pass {
      CopyPass(setting: setting)
    }
    func adopt(_ request: any SceneRequest) -> Bool { request is Self }
    func step(_ view: SceneView) -> any Sendable {
      self.gate.hold()
      return 0
    }
  }

  private struct CopyPass: OperationPass {
    let setting: PassSetting

    func run(_ context: PassContext) {
      for shape in PlaneShape.planes(context.output.format, context.output.size) {
        for y in 0 ..< shape.height {
          unsafe context.output.row(y, plane: shape.plane).copyMemory(
            from: context.inputs[0].row(y, plane: shape.plane), byteCount: shape.samples)
        }
      }
    }
  }

  struct MarkPass: Pass {
    let description: PassDescription
    let index: Int

    func run(_ context: PassContext) {
      let level = context.scene?.drawing(of: self.index, as: UInt8.self) ?? 255
      for y in 0 ..< context.output.size.height {
        unsafe context.output.row(y).initializeMemory(
          as: UInt8.self, repeating: level, count: context.output.size.width)
      }
    }
  }
}
