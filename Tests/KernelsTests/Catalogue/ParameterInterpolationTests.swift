import SidelightKernelLanguage
import SidelightKernels
import Testing

@Suite struct `A pipeline between two` {
  static func between(
    _ first: Pipeline, _ second: Pipeline, _ progress: Double
  ) throws -> ResolvedPipeline? {
    let catalogue = FilterCatalogue.builtIn
    return catalogue.interpolate(
      from: try catalogue.resolve(first), to: try catalogue.resolve(second), at: progress)
  }

  static func filter(_ name: String, _ parameters: [String: ParameterValue]) -> Pipeline {
    [.filter(name, parameters)]
  }

  @Test(
    arguments: [
      ("sepiaTone", "intensity", .number(0.2), .number(1), .number(0.4)),
      ("gaussianBlur", "radius", .length(Length(4)), .length(Length(8)), .length(Length(5))),
      (
        "gaussianBlur", "radius", .length(Length(0)), .length(Length(0.4, .width)),
        .length(Length(0.1, .width))
      ),
      (
        "whitePointAdjust", "color", .color(RGBAColor(red: 1, green: 0, blue: 0.5)),
        .color(RGBAColor(red: 0, green: 1, blue: 0.5)),
        .color(RGBAColor(red: 0.75, green: 0.25, blue: 0.5))
      ),
    ] as [(String, String, ParameterValue, ParameterValue, ParameterValue)])
  func `has the parameters in between`(
    _ name: String, _ parameter: String, _ first: ParameterValue, _ second: ParameterValue,
    _ expected: ParameterValue
  ) throws {
    let result = try Self.between(
      Self.filter(name, [parameter: first]), Self.filter(name, [parameter: second]), 0.25)
    #expect(
      result == (try FilterCatalogue.builtIn.resolve(Self.filter(name, [parameter: expected]))))
  }

  @Test func `is one of the two at its ends`() throws {
    let (first, second) = (
      Self.filter("sepiaTone", ["intensity": .number(0.1)]), Self.filter("sepiaTone", [:])
    )
    #expect(try Self.between(first, second, 0) == FilterCatalogue.builtIn.resolve(first))
    #expect(try Self.between(first, second, 1) == FilterCatalogue.builtIn.resolve(second))
  }

  @Test func `changes filters of nested pipelines`() throws {
    func pipeline(_ scale: Double) -> Pipeline {
      [
        .filter("sepiaTone"),
        Stage(.pipeline(Self.filter("pixellate", ["scale": .length(Length(scale))]))),
      ]
    }
    #expect(
      try Self.between(pipeline(4), pipeline(8), 0.5)
        == FilterCatalogue.builtIn.resolve(pipeline(6)))
  }

  @Test func `does not exist if more than numbers differ`() throws {
    var inactive = Stage.filter("sepiaTone")
    inactive.isActive = false
    let pairs: [(Pipeline, Pipeline)] = [
      (Self.filter("sepiaTone", [:]), Self.filter("grayscale", [:])),
      (Self.filter("sepiaTone", [:]), []),
      (Self.filter("sepiaTone", [:]), [inactive]),
      (
        Self.filter("grain", ["monochrome": .flag(true)]),
        Self.filter("grain", ["monochrome": .flag(false)])
      ),
      (
        Self.filter("gaussianBlur", ["radius": .length(Length(4))]),
        Self.filter("gaussianBlur", ["radius": .length(Length(0.1, .width))])
      ),
    ]
    for (first, second) in pairs {
      #expect(try Self.between(first, second, 0.5) == nil)
      #expect(try Self.between(first, second, 0) == nil, "at its ends neither")
    }
  }
}
