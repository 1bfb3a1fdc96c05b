import SidelightKernels
import SidelightWire
import Testing

@Suite struct `A complaint of the catalogue` {
  //                 1         2         3         4         5         6         7         8
  //        12345678901234567890123456789012345678901234567890123456789012345678901234567890123456
  let text = "one: sepia(intensity: 2), [a, blur(radius: 1e9) @mix(7)] @region(0, 0, 1, 1), c(x: 1)"

  @Test(
    arguments: [
      ("stages[0].filter", .unknownFilter, 6),
      ("stages[0].filter.name", .unknownFilter, 6),
      ("stages[0]", .invalidStage, 1),
      ("stages[0].id", .duplicateStageID, 1),
      ("stages[0].filter.parameters[\"intensity\"]", .unknownParameter, 12),
      ("stages[0].filter.parameters[\"intensity\"]", .outOfLimits, 23),
      ("stages[0].filter.parameters[\"weights\"]", .missingParameter, 6),
      ("stages[1]", .tooManyStages, 27),
      ("stages[1].pipeline", .tooDeep, 27),
      ("stages[1].pipeline.stages[0].filter", .unknownFilter, 28),
      ("stages[1].pipeline.stages[1].filter", .unknownFilter, 31),
      ("stages[1].pipeline.stages[1].filter.parameters[\"radius\"]", .duplicateParameter, 36),
      ("stages[1].pipeline.stages[1].filter.parameters[\"radius\"]", .wrongType, 44),
      ("stages[1].pipeline.stages[1].filter.parameters[\"radius\"].value", .wrongType, 44),
      ("stages[1].pipeline.stages[1].mix", .invalidStage, 54),
      ("stages[1].region", .invalidStage, 58),
      ("stages[1].region.origin.y", .invalidStage, 69),
      ("stages[1].region.width", .invalidStage, 72),
      ("stages[1].region.elsewhere", .invalidStage, 58),
      ("stages[2].filter.parameters[\"x\"]", .outOfLimits, 84),
      ("stages[10]", .tooManyStages, 1),
      ("stages", .tooManyStages, 1),
      ("elsewhere", .unknownStage, 1),
    ] as [(String, PipelineError.Code, Int)])
  func `is pointed at the part of the text that its path names`(
    path: String, code: PipelineError.Code, column: Int
  ) throws {
    let complaint = PipelineError(code: code, path: path, message: "is wrong")
    let error = try PipelineText(self.text).locate(complaint)
    #expect(error.column == column)
    #expect(error.message == "is wrong")
    #expect(error.cause == complaint)
  }

  @Test func `keeps its hint, and shows the text`() throws {
    let text = try PipelineText("mono, spia(intensity: 1)")
    let error = try #require(throws: PipelineTextError.self) {
      try text.resolve { pipeline throws(PipelineError) in
        throw PipelineError(
          code: .unknownFilter, path: "stages[\(pipeline.stages.count - 1)].filter",
          message: "there is no filter 'spia'", suggestion: "sepia")
      }
    }
    #expect(
      error.description == """
        column 7: there is no filter 'spia'; did you mean sepia?
        mono, spia(intensity: 1)
              ^
        """)
  }

  @Test func `about a parameter with a very long name is pointed at it`() throws {
    let name = String(repeating: "n", count: 100)
    let complaint = PipelineError(
      code: .unknownParameter,
      path: "stages[0].filter.parameters[\"\(name.clipped(toBytes: 64))\"]", message: "is unknown")
    #expect(try PipelineText("f(a: 1, \(name): 2)").locate(complaint).column == 9)
  }

  @Test func `that there is none gives what the catalogue gives`() throws {
    let count = try PipelineText("a, b").resolve { pipeline in pipeline.stages.count }
    #expect(count == 2)
  }
}
