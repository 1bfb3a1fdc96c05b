import SidelightKernels
import Testing

/// The rules of pipelines with filters that depend on the scene.
@Suite struct `Pipelines with scene filters` {
  struct Hide: SceneFilter {
    static let description = FilterDescription(
      name: "hide", summary: "Hides.", category: .effect, reach: .frame, fidelity: .formula,
      formula: "none",
      parameters: [
        ParameterDescription("protects", .flag, default: .flag(true), "Whether it protects.")
      ])
    let protects: Bool
    var unavailability: String?
    var description: FilterDescription { Self.description }
    func nodes(for geometry: FrameGeometry) -> [FilterNode] { [] }
  }

  static func catalogue(unavailability: String? = nil) -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(Hide.description) {
      Hide(protects: $0.flag("protects"), unavailability: unavailability)
    }
    return catalogue
  }

  static func error(_ pipeline: Pipeline) -> PipelineError? {
    do throws(PipelineError) {
      _ = try Self.catalogue().resolve(pipeline)
      return nil
    } catch {
      return error
    }
  }

  static let hide = Stage.filter("hide")
  static let mark = Stage.filter("hide", ["protects": .flag(false)])
  static let corner = Region(
    origin: FramePoint(x: Length(0), y: Length(0)), width: Length(8), height: Length(8))

  @Test(arguments: [
    Stage.filter("scale", ["width": .number(8)]), .filter("twirlDistortion"), .filter("crop"),
  ])
  func `a filter that moves pixels may come after, but not before`(_ moving: Stage) throws {
    for stage in [Self.hide, Self.mark] {
      #expect(Self.error([stage, moving]) == nil)
      let error = try #require(Self.error([moving, stage]))
      #expect(error.code == .invalidStage && error.path == "stages[1].filter.name")
      let nested = try #require(
        Self.error([Stage(.pipeline([moving])), Stage(.pipeline([.filter("sepiaTone"), stage]))]))
      #expect(nested.path == "stages[1].pipeline.stages[1].filter.name")
    }
  }

  @Test func `what protects has neither a mix nor a region, and nor has a pipeline around it`() {
    func mixed(_ content: Stage.Content) -> Stage { Stage(content, mix: 0.5) }
    func limited(_ content: Stage.Content) -> Stage { Stage(content, region: Self.corner) }
    let inactive = Stage(Self.hide.content, isActive: false, mix: 0.5)
    #expect(Self.error([mixed(Self.hide.content)])?.path == "stages[0].mix")
    #expect(Self.error([limited(Self.hide.content)])?.path == "stages[0].region")
    #expect(Self.error([inactive])?.path == "stages[0].mix")
    #expect(Self.error([mixed(.pipeline([Self.hide]))])?.path == "stages[0].mix")
    #expect(Self.error([limited(.pipeline([Self.hide]))])?.path == "stages[0].region")
    #expect(Self.error([mixed(Self.mark.content)]) == nil)
    #expect(Self.error([limited(.pipeline([Self.mark]))]) == nil)
    #expect(Self.error([Self.hide, mixed(.pipeline([.filter("sepiaTone")]))]) == nil)
  }

  @Test func `the source frame is not read after a filter that protects`() throws {
    let reader = Stage.filter("sourceOverCompositing", ["backgroundImage": .text("source")])
    #expect(Self.error([reader, Self.hide]) == nil)
    #expect(Self.error([Self.mark, reader]) == nil)
    let error = try #require(Self.error([Self.hide, reader]))
    #expect(error.code == .invalidStage)
    #expect(error.path == "stages[1].filter.parameters[\"backgroundImage\"]")
  }

  @Test func `parameters that this program cannot serve do not resolve`() {
    let catalogue = Self.catalogue(unavailability: "there is no finder")
    let error = #expect(throws: PipelineError.self) { try catalogue.resolve([Self.hide]) }
    #expect(error?.code == .unavailableFilter)
    #expect(error?.message.hasSuffix("there is no finder") == true)
  }

  @Test func `an active filter that protects makes its pipeline protect`() throws {
    func protects(_ pipeline: Pipeline) throws -> Bool {
      try Self.catalogue().resolve(pipeline).protects
    }
    #expect(try protects([.filter("sepiaTone"), Stage(.pipeline([Self.hide]))]))
    #expect(try !protects([Self.mark]))
    #expect(try !protects([Stage(Self.hide.content, isActive: false)]))
    #expect(try !protects([Stage(.pipeline([Self.hide]), isActive: false)]))
  }
}
