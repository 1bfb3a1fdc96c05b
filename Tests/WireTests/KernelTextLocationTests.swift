import SidelightKernelLanguage
import SidelightKernels
import SidelightWire
import Testing

/// Errors of kernels within the text of a pipeline.
@Suite struct `An error of a kernel in a pipeline's text` {
  @Test(arguments: [
    ("kernel(source: \"mix(color, lumma(color), 1)\")", "lumma"),
    ("sepiaTone,\n kernel(source: \"color.rgb *\\n lumma(color)\")", "lumma"),
    ("kernel(source: \"color /* \\u{1F600} \\\"\\\\ */ * lumma(color)\")", "lumma"),
    ("kernel(source: lumma)", "lumma"),
    ("[kernel(source: \"color.rgx\") @mix(0.5)]", "rgx"),
  ])
  func `is at the character that is invalid`(_ text: String, _ invalid: String) throws {
    let error = try #require(throws: PipelineTextError.self) {
      try PipelineText(text).resolve { pipeline throws(PipelineError) in
        try FilterCatalogue.builtIn.resolve(pipeline)
      }
    }
    let place = String(decoding: text.utf8.dropFirst(error.utf8Offset), as: UTF8.self)
    #expect(place.hasPrefix(invalid), "\(error)")
    #expect(error.cause?.code == .invalidKernel)
    let info = try #require(FieldViolation(error, field: "text").info)
    #expect(info.reason == "INVALID_KERNEL")
    #expect(info.position?.utf8Offset == error.utf8Offset)
  }

  @Test func `has its place in the kernel if the pipeline is a message`() throws {
    let error = try #require(throws: PipelineError.self) {
      try FilterCatalogue.builtIn.resolve([
        .filter("kernel", ["source": .text("color.rgb *\n lumma(color)")])
      ])
    }
    let violation = FieldViolation(error)
    #expect(violation.field == "stages[0].filter.parameters[\"source\"]")
    #expect(violation.reason.contains("line 2, column 2 of the kernel"))
    #expect(violation.info?.position == .init(line: 2, column: 2, utf8Offset: 13))
    #expect(violation.info?.suggestion == "luma")
  }
}
