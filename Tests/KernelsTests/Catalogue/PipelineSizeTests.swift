import SidelightKernelLanguage
import SidelightKernels
import Testing

/// The limits of a pipeline's names, texts and lists.
@Suite struct PipelineSizeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let stage: Stage
    let path: String
    let message: String
    var testDescription: String { self.path }
  }

  static func name(_ count: Int) -> String { String(repeating: "n", count: count) }

  static func filter(_ parameters: [String: ParameterValue]) -> Stage {
    .filter("sepiaTone", parameters)
  }

  static let cases: [Case] = [
    Case(
      stage: Stage(.filter(FilterCall(name: "sepiaTone")), id: Self.name(65)), path: "id",
      message: "has 65 bytes; the limit is 64"),
    // One character, and 101 bytes.
    Case(
      stage: Stage(
        .filter(FilterCall(name: "sepiaTone")), id: "e" + String(repeating: "\u{301}", count: 50)),
      path: "id", message: "has 101 bytes; the limit is 64"),
    Case(
      stage: .filter(Self.name(65)), path: "filter.name",
      message: "has 65 bytes; the limit is 64"),
    Case(
      stage: Self.filter([Self.name(65): .number(1)]),
      path: "filter.parameters[\"\(Self.name(61))...\"]",
      message: "the parameter's name has 65 bytes; the limit is 64"),
    Case(
      stage: Self.filter(["intensity": .text(Self.name(1025))]),
      path: "filter.parameters[\"intensity\"]", message: "has 1025 bytes; the limit is 1024"),
    Case(
      stage: Self.filter(["intensity": .vector(Array(repeating: 0, count: 1025))]),
      path: "filter.parameters[\"intensity\"]", message: "has 1025 numbers; the limit is 1024"),
    Case(
      stage: Self.filter(
        Dictionary(uniqueKeysWithValues: (0 ..< 65).map { ("p\($0)", .number(1)) })),
      path: "filter.parameters", message: "has 65 entries; the limit is 64"),
  ]

  @Test(arguments: Self.cases)
  func `a size beyond its limit is refused with path, size and limit`(_ each: Case) {
    for (pipeline, prefix) in [
      ([.filter("sepiaTone"), each.stage], "stages[1]."),
      ([Stage(.pipeline([each.stage]))], "stages[0].pipeline.stages[0]."),
    ] as [(Pipeline, String)] {
      let error = #expect(throws: PipelineError.self) {
        try FilterCatalogue.builtIn.resolve(pipeline)
      }
      #expect(error?.code == .tooLarge)
      #expect(error?.path == prefix + each.path)
      #expect(error?.message == each.message)
    }
  }

  @Test func `a size at its limit is accepted`() throws {
    let pipeline: Pipeline = [
      Stage(
        .filter(
          FilterCall(
            name: Self.name(64),
            parameters: Dictionary(
              uniqueKeysWithValues: (0 ..< 64).map { number in
                let value: ParameterValue =
                  number == 0
                  ? .text(Self.name(1024))
                  : number == 1 ? .vector(Array(repeating: 0, count: 1024)) : .number(1)
                let digits = "\(number)"
                return (Self.name(64 - digits.count) + digits, value)
              }))), id: Self.name(64))
    ]
    try pipeline.checkSizes()
  }

  @Test func `an update with too many parameters is refused before it changes anything`() {
    var pipeline: Pipeline = [.filter("sepiaTone")]
    let before = pipeline
    let error = #expect(throws: PipelineError.self) {
      try pipeline.setParameters(
        Dictionary(uniqueKeysWithValues: (0 ..< 65).map { ("p\($0)", .number(1)) }),
        stage: "stages[0]")
    }
    #expect(error?.code == .tooLarge)
    #expect(error?.path == "parameters")
    #expect(pipeline == before)
  }

  @Test
  func `an error that repeats a name repeats a bounded part of it, whatever its characters`() {
    let name = "e" + String(repeating: "\u{301}", count: 100_000)
    var pipeline: Pipeline = [Stage(.pipeline([]), id: name)]
    let errors = [
      #expect(throws: PipelineError.self) { try pipeline.setActive(true, stage: name + "x") },
      #expect(throws: PipelineError.self) { try pipeline.setParameters([:], stage: name) },
      #expect(throws: PipelineError.self) {
        try FilterCatalogue.builtIn.resolve([Self.filter([name: .number(1)])])
      },
    ]
    for error in errors { #expect((error?.description.utf8.count ?? .max) < 512) }
  }

  @Test(arguments: 3 ... 12)
  func `a text is cut off between scalars, and never longer than asked`(limit: Int) {
    for text in ["abcdefghijklm", "éééééééé", "\u{1F3A5}\u{1F3A5}\u{1F3A5}\u{1F3A5}"] {
      let clipped = text.clipped(toBytes: limit)
      #expect(clipped.utf8.count <= limit)
      #expect(!clipped.unicodeScalars.contains("\u{FFFD}"))
      #expect(text.utf8.count <= limit ? clipped == text : clipped.hasSuffix("..."))
    }
  }
}
