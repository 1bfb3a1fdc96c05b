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

  /// A filter whose description is wrong: it claims to work on single pixels.
  struct Mislabelled: CatalogueFilter {
    static let description = FilterDescription(
      name: "mislabelled", summary: "Moves.", category: .color, reach: .pixel, fidelity: .formula,
      formula: "none")
    init(_ arguments: Arguments) {}
    func nodes(for geometry: FrameGeometry) -> [FilterNode] {
      [.frame { _, _, _ in }]
    }
  }

  static func catalogue(unavailability: String? = nil) -> FilterCatalogue {
    var catalogue = `Custom filters`.bench().catalogue
    catalogue.register(Mislabelled.self)
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
    Self.kernel("warp position * 2"),
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

  static func kernel(_ text: String) -> Stage { .filter("kernel", ["source": .text(text)]) }

  static func convolution(_ weights: [Double]) -> Stage {
    .filter("convolution3X3", ["weights": .vector(weights)])
  }

  @Test(arguments: [
    Self.kernel("sample(9 * sin(time), 0)"),
    Self.kernel("sample(-30, 0)"), Self.kernel("(color + sample(0, 1)) / 2"),
    Self.convolution([0, 0, 0, 1, 0, 0, 0, 0, 0]), .filter("zoomBlur"), .filter("emboss"),
    .filter("upsideDown"),
    Stage(Self.kernel("sample(-30, 0)").content, isActive: false),
    Stage(Self.kernel("sample(-30, 0)").content, mix: 0.5, region: Self.corner),
    Stage(.pipeline([.filter("sepiaTone"), Self.kernel("sample(-30, 0)")])),
  ])
  func `nothing that may move pixels comes before a filter that protects`(_ moving: Stage) throws {
    let error = try #require(Self.error([.filter("sepiaTone"), moving, Self.hide]))
    #expect(error.code == .invalidStage && error.path == "stages[2].filter.name")
    // The filter, its stage, and the remedy.
    let names = ["kernel", "convolution3X3", "zoomBlur", "emboss", "upsideDown"]
    let name = try #require(names.first { error.message.contains("comes after \($0) (stages[1]") })
    #expect(error.message.contains("move \(name) after hide"))
    #expect(Self.error([Self.hide, moving]) == nil)
    #expect(Self.error([moving, Self.mark]) == nil)
    #expect(Self.error([Self.hide, moving, Self.hide])?.path == "stages[2].filter.name")
  }

  @Test(arguments: [
    Stage.filter("sepiaTone"), .filter("vignette", ["intensity": .number(1)]),
    .filter("gaussianBlur"), .filter("boxBlur", ["border": .text("transparent")]),
    .filter("motionBlur"), .filter("bloom"), .filter("sharpenLuminance"), .filter("unsharpMask"),
    .filter("beauty"), .filter("edgePreservingSmooth"), .filter("noiseReduction"),
    .filter("lowLight"), .filter("whiteBalance"), .filter("median"), .filter("cartoon"),
    .filter("edges"), .filter("sketch"), .filter("pixellate"), .filter("crystallize"),
    .filter("chromaKey"), .filter("solarize"), .filter("brightness"), Self.kernel("color * 0.5"),
    Self.kernel("sample(0, 0)"), Self.convolution([0, -1, 0, -1, 5, -1, 0, -1, 0]), Self.mark,
    Self.hide, .filter("sourceOverCompositing", ["backgroundImage": .text("source")]),
  ])
  func `filters of single pixels and blurs come before a filter that protects`(
    _ stage: Stage
  ) throws {
    #expect(Self.error([stage, Stage(.pipeline([stage])), Self.hide]) == nil)
  }

  /// The rule trusts these descriptions, since the nodes of some filters hold large images.
  @Test func `filters that say that they work on single pixels do`() throws {
    let catalogue = ChainAssets.catalogue
    let geometry = FrameGeometry(format: .bgra8, size: FrameSize(width: 64, height: 48))
    var count = 0
    for description in catalogue.descriptions where description.reach == .pixel {
      var parameters: [String: ParameterValue] = [:]
      for parameter in description.parameters {
        switch parameter.assetKind {
        case .image:
          parameters[parameter.name] = .text(parameter.acceptsSource ? "source" : "photo")
        case .cube: parameters[parameter.name] = .text("cube")
        case .font, .kernel, nil: break
        }
      }
      guard let resolved = try? catalogue.resolve([.filter(description.name, parameters)]),
        case .filter(_, _, let filter) = resolved.stages[0].content
      else { continue }
      var spread = ContentSpread()
      for node in filter.nodes(for: geometry, in: .sRGBGamma) { spread.add(node, in: geometry) }
      #expect(spread.distance == 0, "\(description.name)")
      count += 1
    }
    #expect(count > 20)
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
