import SidelightKernelLanguage
import SidelightKernels
import Testing

/// The pipelines that the catalogue rejects, and its errors.
@Suite struct `Resolving pipelines` {
  struct Case: Sendable, CustomTestStringConvertible {
    let pipeline: Pipeline
    let code: PipelineError.Code
    let path: String
    var suggestion: String?
    var testDescription: String { "\(self.code) at \(self.path)" }
  }

  static func blur(_ value: ParameterValue) -> Pipeline {
    [.filter("gaussianBlur", ["radius": value])]
  }

  static let radius = "stages[0].filter.parameters[\"radius\"]"

  static let cases: [Case] = [
    Case(
      pipeline: [.filter("sepiaTome")], code: .unknownFilter, path: "stages[0].filter.name",
      suggestion: "sepiaTone"),
    Case(
      pipeline: [.filter("CIGausianBlur")], code: .unknownFilter, path: "stages[0].filter.name",
      suggestion: "gaussianBlur"),
    Case(
      pipeline: [.filter(String(repeating: "x", count: 64))], code: .unknownFilter,
      path: "stages[0].filter.name"),
    Case(
      pipeline: [.filter("gaussianBlur", ["radios": .number(1)])], code: .unknownParameter,
      path: "stages[0].filter.parameters[\"radios\"]", suggestion: "radius"),
    Case(
      pipeline: [
        .filter("gaussianBlur", ["radius": .number(1), "inputRadius": .number(2)])
      ], code: .duplicateParameter, path: Self.radius),
    Case(pipeline: Self.blur(.number(.nan)), code: .outOfLimits, path: Self.radius),
    Case(pipeline: Self.blur(.number(.infinity)), code: .outOfLimits, path: Self.radius),
    Case(pipeline: Self.blur(.number(1e308)), code: .outOfLimits, path: Self.radius),
    Case(pipeline: Self.blur(.number(1e9)), code: .outOfLimits, path: Self.radius),
    Case(pipeline: Self.blur(.number(-1)), code: .outOfLimits, path: Self.radius),
    Case(
      pipeline: Self.blur(.length(Length(1e9, .width))), code: .outOfLimits, path: Self.radius),
    Case(
      pipeline: Self.blur(.length(Length(.nan, .shortSide))), code: .outOfLimits,
      path: Self.radius),
    Case(pipeline: Self.blur(.text("ten")), code: .wrongType, path: Self.radius),
    Case(pipeline: Self.blur(.flag(true)), code: .wrongType, path: Self.radius),
    Case(
      pipeline: [.filter("sepiaTone", ["intensity": .number(.nan)])], code: .outOfLimits,
      path: "stages[0].filter.parameters[\"intensity\"]"),
    Case(
      pipeline: [.filter("pixellate", ["center": .vector([1, 2, 3])])], code: .wrongType,
      path: "stages[0].filter.parameters[\"center\"]"),
    Case(
      pipeline: [.filter("pixellate", ["center": .vector([.nan, 2])])], code: .outOfLimits,
      path: "stages[0].filter.parameters[\"center\"]"),
    Case(
      pipeline: [
        .filter("sepiaTone"), Stage(.pipeline([.filter("colorInvert"), .filter("nothing")])),
      ], code: .unknownFilter, path: "stages[1].pipeline.stages[1].filter.name"),
    Case(
      pipeline: [Stage(.filter(FilterCall(name: "sepiaTone")), mix: 1.5)], code: .invalidStage,
      path: "stages[0].mix"),
    Case(
      pipeline: [Stage(.filter(FilterCall(name: "sepiaTone")), mix: .nan)], code: .invalidStage,
      path: "stages[0].mix"),
    Case(
      pipeline: [
        Stage(
          .filter(FilterCall(name: "sepiaTone")),
          region: Region(
            origin: FramePoint(x: Length(0), y: Length(.infinity)), width: Length(1),
            height: Length(1)))
      ], code: .invalidStage, path: "stages[0].region.origin.y"),
    Case(
      pipeline: [
        Stage(
          .filter(FilterCall(name: "sepiaTone")),
          region: Region(
            origin: FramePoint(x: Length(0), y: Length(0)), width: Length(-1), height: Length(1)))
      ], code: .invalidStage, path: "stages[0].region.width"),
    Case(
      pipeline: [
        Stage(.filter(FilterCall(name: "sepiaTone")), id: "a"),
        Stage(.pipeline([Stage(.filter(FilterCall(name: "sepiaTone")), id: "a")])),
      ], code: .duplicateStageID, path: "stages[1].pipeline.stages[0].id"),
    Case(
      pipeline: Pipeline(stages: Array(repeating: .filter("sepiaTone"), count: 10_000)),
      code: .tooManyStages, path: "stages[64]"),
    Case(
      pipeline: (0 ..< 100).reduce([.filter("sepiaTone")]) { inner, _ in [Stage(.pipeline(inner))]
      },
      code: .tooDeep,
      path: (0 ..< 8).map { _ in "stages[0].pipeline" }.joined(separator: ".")),
  ]

  @Test func `a filter that is not available is described, and refused with the reason`() throws {
    var catalogue = FilterCatalogue.builtIn
    let sepia = try #require(catalogue.description(named: "sepiaTone"))
    let names = catalogue.descriptions.map(\.name)
    let allNames = catalogue.allDescriptions.map(\.name)
    catalogue.register(unavailable: sepia, reason: "this server has no brown")
    #expect(catalogue.descriptions.map(\.name) == names.filter { $0 != "sepiaTone" })
    #expect(catalogue.allDescriptions.map(\.name) == allNames)
    #expect(catalogue.description(named: "sepiaTone") == nil)
    #expect(catalogue.unavailableFilter(named: "CISepiaTone")?.description == sepia)
    #expect(catalogue.nearestName(to: "sepiaTon") != "sepiaTone")
    for name in ["sepiaTone", "CISepiaTone"] {
      let error = try #require(throws: PipelineError.self) {
        try catalogue.resolve([.filter("colorInvert"), .filter(name)])
      }
      #expect(error.code == .unavailableFilter && error.path == "stages[1].filter.name")
      #expect(
        error.message == "the filter \"sepiaTone\" is not available: this server has no brown")
    }
    // A registration replaces it.
    catalogue.register(sepia) { _ in CustomFilterStub() }
    #expect(catalogue.unavailableFilter(named: "sepiaTone") == nil)
    _ = try catalogue.resolve([.filter("sepiaTone")])
  }

  private struct CustomFilterStub: Filter {
    var description: FilterDescription {
      FilterDescription(
        name: "stub", summary: "Nothing.", category: .custom, reach: .pixel, fidelity: .custom,
        formula: "c")
    }
    func nodes(for geometry: FrameGeometry) -> [FilterNode] { [] }
  }

  @Test(arguments: Self.cases)
  func `an error states its path`(_ fault: Case) throws {
    let error = try #require(throws: PipelineError.self) {
      try FilterCatalogue.builtIn.resolve(fault.pipeline)
    }
    #expect(error.code == fault.code)
    #expect(error.path == fault.path)
    #expect(error.suggestion == fault.suggestion)
    #expect(error.message.utf8.count < 300)
  }

  @Test(arguments: [
    [Stage.filter("CISepiaTone", ["inputIntensity": .number(1)])],
    [
      .filter(
        "pixellate", ["inputCenter": .vector([4, 5]), "scale": .length(Length(0.1, .width))])
    ],
    [.filter("gaussianBlur", ["radius": .number(0)])],
    [.filter("vignette", ["intensity": .number(1.2), "radius": .number(2)])],
  ])
  func `other spellings and short forms are accepted`(_ stages: [Stage]) throws {
    _ = try FilterCatalogue.builtIn.resolve(Pipeline(stages: stages))
  }

  @Test func `the error for an unknown stage suggests the nearest`() throws {
    var pipeline: Pipeline = [Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm")]
    let error = try #require(throws: PipelineError.self) {
      try pipeline.setActive(false, stage: "worm")
    }
    #expect(error.code == .unknownStage)
    #expect(error.suggestion == "warm")
  }

  @Test func `every description is complete`() throws {
    let descriptions = FilterCatalogue.builtIn.descriptions
    #expect(descriptions.map(\.name) == descriptions.map(\.name).sorted())
    for description in descriptions {
      #expect(!description.summary.isEmpty && !description.formula.isEmpty)
      #expect(description.name.first?.isLowercase == true)
      for parameter in description.parameters {
        #expect(!parameter.summary.isEmpty)
        if case .number = parameter.kind {
          #expect(parameter.limits != nil, "\(description.name).\(parameter.name)")
        }
      }
      #expect(FilterCatalogue.builtIn.description(named: description.name) == description)
    }
  }

  @Test func `equal pipelines are equal keys`() throws {
    let catalogue = FilterCatalogue.builtIn
    let one = try catalogue.resolve([.filter("CISepiaTone")])
    let two = try catalogue.resolve([.filter("sepiaTone", ["intensity": .number(1)])])
    let three = try catalogue.resolve([.filter("sepiaTone", ["intensity": .number(0.5)])])
    #expect(one == two)
    #expect(one != three)
  }
}
