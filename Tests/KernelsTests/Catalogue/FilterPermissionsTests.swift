import SidelightKernelLanguage
import SidelightKernels
import Testing

/// The filters and values that a catalogue permits to pipelines.
@Suite struct FilterPermissionsTests {
  /// Permissions that do not change.
  private struct Fixed: FilterPermissionProvider {
    let permissions: FilterPermissions?
  }

  private static func catalogue(_ grants: FilterPermissions.Grant...) -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("mine", "Changes nothing.", color: Unchanged()))
    catalogue.permissions = Fixed(permissions: FilterPermissions(grants: grants))
    return catalogue
  }

  private struct Unchanged: ColorKernel {
    func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel { pixel }
  }

  private static func grant(
    _ filters: [String], _ ranges: [String] = []
  ) throws -> FilterPermissions.Grant {
    FilterPermissions.Grant(
      origin: "the test", filters: try FilterNameList(filters),
      ranges: try ranges.map { try #require(ParameterRange($0)) })
  }

  private static func error(
    _ pipeline: Pipeline, _ catalogue: FilterCatalogue
  ) -> PipelineError? {
    do throws(PipelineError) {
      _ = try catalogue.resolve(pipeline)
      return nil
    } catch {
      return error
    }
  }

  private static let lists: [(entries: [String], filter: String, isPermitted: Bool?)] = [
    (["sepiaTone"], "sepiaTone", true), (["sepiaTone"], "CISepiaTone", true),
    (["CISepiaTone"], "sepiaTone", true), (["sepia*"], "CISepiaTone", true),
    (["CISepia*"], "sepiaTone", true), (["*"], "mine", true), (["mine"], "mine", true),
    (["sepiaTone"], "mine", false), (["sepiaTon"], "sepiaTone", false),
    (["SepiaTone"], "sepiaTone", false), (["vignette", "pixell*"], "pixellate", true),
    (["*Tone"], "sepiaTone", nil), ([""], "sepiaTone", nil), ([], "sepiaTone", false),
  ]

  @Test(arguments: Self.lists)
  func `a list has names, prefixes, and the names of Core Image`(
    entries: [String], filter: String, isPermitted: Bool?
  ) throws {
    guard let isPermitted else {
      #expect(throws: FilterNameError.self) { try FilterNameList(entries) }
      return
    }
    let catalogue = Self.catalogue(try Self.grant(entries))
    let error = Self.error([.filter(filter)], catalogue)
    #expect((error == nil) == isPermitted, "\(String(describing: error))")
    guard let error else { return }
    #expect(error.code == .notPermitted && error.path == "stages[0].filter.name")
    let name = catalogue.description(named: filter)?.name ?? ""
    #expect(error.message == "the filter \"\(name)\" is not permitted by the test")
  }

  @Test func `every grant must permit a filter, nested and inactive stages included`() throws {
    let catalogue = Self.catalogue(
      try Self.grant(["sepiaTone", "vignette"]), try Self.grant(["sepiaTone", "colorInvert"]))
    #expect(Self.error([.filter("sepiaTone")], catalogue) == nil)
    for name in ["vignette", "colorInvert"] {
      #expect(Self.error([.filter(name)], catalogue)?.code == .notPermitted)
    }
    let inner: Pipeline = [.filter("sepiaTone"), Stage(.filter(FilterCall(name: "vignette")))]
    let nested = Self.error([.filter("sepiaTone"), Stage(.pipeline(inner))], catalogue)
    #expect(nested?.path == "stages[1].pipeline.stages[1].filter.name")
    let inactive = Stage(.filter(FilterCall(name: "vignette")), isActive: false)
    #expect(Self.error([inactive], catalogue)?.code == .notPermitted)
  }

  private static let values: [(value: ParameterValue, message: String?)] = [
    (.number(8), nil), (.number(64), nil), (.length(Length(20)), nil),
    (.number(7.5), "scale is 7.5; the range permitted by the test is 8...64"),
    (.number(65), "scale is 65.0; the range permitted by the test is 8...64"),
    (
      .length(Length(0.5, .width)),
      "scale is 0.5 frame widths; the range permitted by the test is 8...64, in pixels"
    ),
  ]

  @Test(arguments: Self.values)
  func `a value outside the permitted range is refused with the range`(
    value: ParameterValue, message: String?
  ) throws {
    let catalogue = Self.catalogue(try Self.grant(["*"], ["pixellate.scale:8...64"]))
    for name in ["scale", "inputScale"] {
      let error = Self.error([.filter("pixellate", [name: value])], catalogue)
      #expect(error?.message == message)
      #expect(error == nil || error?.code == .notPermitted)
      #expect(error == nil || error?.path == "stages[0].filter.parameters[\"\(name)\"]")
    }
  }

  @Test func `a default outside the permitted range has to be replaced`() throws {
    let catalogue = Self.catalogue(try Self.grant(["*"], ["sepiaTone.intensity:...0.5"]))
    let error = Self.error([.filter("sepiaTone")], catalogue)
    #expect(error?.path == "stages[0].filter.parameters[\"intensity\"]")
    #expect(
      error?.message
        == "intensity defaults to 1.0; the range permitted by the test is ...0.5")
    #expect(Self.error([.filter("sepiaTone", ["intensity": .number(0.5)])], catalogue) == nil)
  }

  @Test func `descriptions contain what is permitted`() throws {
    let catalogue = Self.catalogue(
      try Self.grant(["sepiaTone", "pixellate", "vignette"], ["pixellate.scale:8...64"]),
      try Self.grant(
        ["sepia*", "pixellate"], ["sepiaTone.intensity:...0.5", "pixellate.scale:16..."])
    )
    let described = catalogue.permittedDescriptions
    #expect(described.map(\.name) == ["pixellate", "sepiaTone"])
    let all = FilterCatalogue.builtIn
    for (filter, parameter, range) in [
      ("pixellate", "scale", 16.0 ... 64), ("sepiaTone", "intensity", -.infinity ... 0.5),
    ] {
      let whole = try #require(
        all.description(named: filter)?.parameters.first { $0.name == parameter })
      let part = try #require(
        described.first { $0.name == filter }?.parameters.first { $0.name == parameter })
      let limits = whole.limits ?? -1e6 ... 1e6
      #expect(part.limits == limits.clamped(to: range))
      #expect(part.slider == whole.slider?.clamped(to: range))
      #expect(part.kind == whole.kind && part.unit == whole.unit)
    }
    let intensity = described[1].parameters.first { $0.name == "intensity" }
    #expect(intensity?.defaultValue == nil, "the default is 1, which is not permitted")
    let center = described[0].parameters.first { $0.name == "center" }
    #expect(center == all.description(named: "pixellate")?.parameters.first { $0.name == "center" })
  }

  @Test func `a filter none of whose values is permitted is not described`() throws {
    let catalogue = Self.catalogue(
      try Self.grant(["*"], ["pixellate.scale:8...16"]),
      try Self.grant(["*"], ["pixellate.scale:32...64"]))
    #expect(!catalogue.permittedDescriptions.contains { $0.name == "pixellate" })
  }

  private static let texts: [(text: String, form: String?)] = [
    ("pixellate.scale:8...64", "pixellate.scale:8...64"), ("a.b:...0.5", "a.b:...0.5"),
    ("a.b:-1.5...", "a.b:-1.5..."), ("CIPixellate.inputScale:8...8", "pixellate.scale:8...8"),
    ("pixellate.scale:64...8", nil), ("pixellate.scale", nil), ("pixellate:8...64", nil),
    ("pixellate.scale:8..64", nil), ("pixellate.scale:...", nil), ("pixellate.scale:nan...1", nil),
    ("pixellate.scale:1...inf", nil), (".scale:1...2", nil), ("pixellate.:1...2", nil),
    ("pixellate.scale:1...2...3", nil), ("pixellate.scale:8 64", nil), ("", nil),
  ]

  @Test(arguments: Self.texts)
  func `a range is read from its text`(text: String, form: String?) {
    #expect(ParameterRange(text)?.description == form)
  }

  private static let names: [(text: String, error: String?)] = [
    ("pixellate.scale:8...64", nil), ("sepiaTone.intensity:0...1", nil),
    ("pixelate.scale:8...64", "names an unknown filter; did you mean pixellate?"),
    ("pixellate.scales:8...64", "names an unknown parameter; did you mean scale?"),
    (
      "pixellate.center:8...64",
      "names a parameter that takes a point; ranges apply to numbers, lengths and vectors"
    ),
  ]

  @Test(arguments: Self.names)
  func `a range that limits nothing is found`(text: String, error: String?) throws {
    #expect(try #require(ParameterRange(text)).error(in: .builtIn) == error)
  }

  @Test func `a misspelt name is not completed to a filter that is not permitted`() throws {
    let catalogue = Self.catalogue(try Self.grant(["sepiaTone"]))
    #expect(Self.error([.filter("sepiaTome")], catalogue)?.suggestion == "sepiaTone")
    let error = Self.error([.filter("pixelate")], catalogue)
    #expect(error?.code == .unknownFilter && error?.suggestion == nil)
  }
}
