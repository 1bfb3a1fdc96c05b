import SidelightKernels
import SidelightWire
import Testing

@Suite struct PipelineConversionTests {
  @Test func `a pipeline survives the wire and back, whatever it holds`() throws {
    let pipeline = Pipeline(stages: [
      Stage(
        .filter(
          FilterCall(
            name: "anything",
            parameters: [
              "number": .number(-0.25), "length": .length(Length(0.5, .shortSide)),
              "point": .point(FramePoint(x: Length(3), y: Length(0.5, .height))),
              "color": .color(RGBAColor(red: 1.5, green: 0, blue: -1, alpha: 0)),
              "vector": .vector([1, 2, 3]), "flag": .flag(false), "text": .text("é"),
            ])),
        id: "first", isActive: false, mix: 0,
        region: Region(
          origin: FramePoint(x: Length(0), y: Length(1)), width: Length(0.5, .width),
          height: Length(2))),
      Stage(.pipeline([.filter("inner"), Stage(.pipeline([]))])),
    ])
    #expect(try Pipeline(Sidelight_V1_Pipeline(pipeline)) == pipeline)
  }

  @Test(
    arguments: [nil] + WorkingSpace.allCases)
  func `the working space survives the wire, and none is none`(_ space: WorkingSpace?) throws {
    let inner = Pipeline(stages: [.filter("inner")], workingSpace: space)
    let pipeline = Pipeline(stages: [Stage(.pipeline(inner))], workingSpace: .sRGBLinear)
    let wire = Sidelight_V1_Pipeline(pipeline)
    #expect(wire.workingSpace == .srgbLinear)
    #expect(try Pipeline(wire) == pipeline)
    #expect(try Pipeline(Sidelight_V1_Pipeline(inner)) == inner)
  }

  static func nested(_ depth: Int) -> Sidelight_V1_Pipeline {
    var pipeline = Sidelight_V1_Pipeline()
    for _ in 1 ..< depth {
      var stage = Sidelight_V1_Stage()
      stage.pipeline = pipeline
      pipeline = Sidelight_V1_Pipeline()
      pipeline.stages = [stage]
    }
    return pipeline
  }

  @Test func `nesting beyond the limit is refused before it is followed`() throws {
    _ = try Pipeline(Self.nested(Pipeline.maxDepth))
    let violation = #expect(throws: FieldViolation.self) { try Pipeline(Self.nested(50)) }
    #expect(violation?.reason.contains("8") == true)
  }

  @Test func `a violation names its field from the pipeline down`() {
    var wire = Sidelight_V1_Pipeline()
    var inner = Sidelight_V1_Stage()
    inner.filter.name = "a"
    inner.filter.parameters["radius"] = Sidelight_V1_ParameterValue()
    var outer = Sidelight_V1_Stage()
    outer.pipeline.stages = [inner]
    wire.stages = [outer]
    let violation = #expect(throws: FieldViolation.self) { try Pipeline(wire) }
    #expect(
      violation?.field == "stages[0].pipeline.stages[0].filter.parameters[\"radius\"].kind")
  }

  @Test func `a stage without content, an unknown unit and an unknown working space are refused`() {
    var empty = Sidelight_V1_Pipeline()
    empty.stages = [Sidelight_V1_Stage()]
    #expect(throws: FieldViolation.self) { try Pipeline(empty) }
    var unit = Sidelight_V1_ParameterValue()
    unit.length.unit = .UNRECOGNIZED(77)
    #expect(throws: FieldViolation.self) { try ParameterValue(unit) }
    var space = Sidelight_V1_Pipeline()
    space.workingSpace = .UNRECOGNIZED(77)
    #expect(throws: FieldViolation.self) { try Pipeline(space) }
  }
}
