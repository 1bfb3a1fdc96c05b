import SidelightKernels
import SidelightWire
import Testing

@Suite struct `The text form of a pipeline` {
  @Test func `reads filters, parameters and nested pipelines`() throws {
    let pipeline = try Pipeline(
      text: "sepia(intensity: 0.8), [pixellate(scale: 12), hueAdjust(angle: 3.14)]")
    #expect(
      pipeline == [
        .filter("sepia", ["intensity": .number(0.8)]),
        Stage(
          .pipeline([
            .filter("pixellate", ["scale": .number(12)]),
            .filter("hueAdjust", ["angle": .number(3.14)]),
          ])),
      ])
  }

  @Test(
    arguments: [
      ("@linear", Pipeline(workingSpace: .sRGBLinear)),
      ("@linear a", Pipeline(stages: [.filter("a")], workingSpace: .sRGBLinear)),
      (
        "@gamma a, [@linear b, c]",
        Pipeline(
          stages: [
            .filter("a"),
            Stage(
              .pipeline(
                Pipeline(stages: [.filter("b"), .filter("c")], workingSpace: .sRGBLinear))),
          ], workingSpace: .sRGBGamma)
      ),
      ("[@linear]", [Stage(.pipeline(Pipeline(workingSpace: .sRGBLinear)))]),
    ] as [(String, Pipeline)])
  func `names the working space before the first stage`(_ text: String, _ pipeline: Pipeline) throws
  {
    #expect(try Pipeline(text: text) == pipeline)
    #expect(try Pipeline(text: " \n" + text.replacing(" ", with: "  ") + " ") == pipeline)
    #expect(pipeline.text == text)
  }

  @Test(arguments: ["", " ", "\n\t \r\n"])
  func `of nothing is the empty pipeline`(text: String) throws {
    #expect(try Pipeline(text: text) == Pipeline())
    #expect(Pipeline().text == "")
  }

  @Test(
    arguments: [
      "a(b:1,c:(2,3)),[d]@mix(.5)@off,id:e",
      " a ( b : 1 , c : ( 2 , 3 ) ) , [ d ] @mix ( 0.5 ) @off , id : e ",
      "a(\n  b: 1,\n  c: (2, 3)\n),\n[d] @mix(0.5)\n@off,\nid: e()\n",
    ])
  func `takes space and line breaks anywhere between parts`(text: String) throws {
    #expect(
      try Pipeline(text: text) == [
        .filter("a", ["b": .number(1), "c": .point(FramePoint(x: Length(2), y: Length(3)))]),
        Stage(.pipeline([.filter("d")]), isActive: false, mix: 0.5),
        Stage(.filter(FilterCall(name: "e")), id: "id"),
      ])
  }

  @Test(
    arguments: [
      ("1", .number(1), nil), ("-0.5", .number(-0.5), nil), ("1e3", .number(1000), "1000"),
      ("+2", .number(2), "2"), (".5", .number(0.5), "0.5"), ("1E-2", .number(0.01), "0.01"),
      ("1e+21", .number(1e21), nil), ("5e-324", .number(.leastNonzeroMagnitude), nil),
      ("0.1", .number(0.1), nil), ("1e999", .number(.infinity), nil),
      ("-1e999", .number(-.infinity), nil),
      ("12px", .length(Length(12)), nil), ("0.5w", .length(Length(0.5, .width)), nil),
      ("-0.25h", .length(Length(-0.25, .height)), nil),
      ("0.1min", .length(Length(0.1, .shortSide)), nil),
      ("1e2w", .length(Length(100, .width)), "100w"),
      ("(0.5w, 0.5h)", .point(.center), nil),
      ("(500, 0.1min)", .point(FramePoint(x: Length(500), y: Length(0.1, .shortSide))), nil),
      ("(500px, -1)", .point(FramePoint(x: Length(500), y: Length(-1))), "(500, -1)"),
      ("#ff8000", .color(RGBAColor(red: 1, green: 128.0 / 255, blue: 0)), nil),
      (
        "#FF800080", .color(RGBAColor(red: 1, green: 128.0 / 255, blue: 0, alpha: 128.0 / 255)),
        "#ff800080"
      ),
      (
        "#0a0b0cff", .color(RGBAColor(red: 10.0 / 255, green: 11.0 / 255, blue: 12.0 / 255)),
        "#0a0b0c"
      ),
      ("color(1, 0.5, 0)", .color(RGBAColor(red: 1, green: 0.5, blue: 0)), nil),
      (
        "color(1.5, -0.5, 0, 0.3)", .color(RGBAColor(red: 1.5, green: -0.5, blue: 0, alpha: 0.3)),
        nil
      ),
      ("color(0, 0, 1, 1)", .color(RGBAColor(red: 0, green: 0, blue: 1)), "#0000ff"),
      ("[0, 1, -0.5]", .vector([0, 1, -0.5]), nil), ("[]", .vector([]), nil),
      ("[ 1 ]", .vector([1]), "[1]"),
      ("true", .flag(true), nil), ("false", .flag(false), nil),
      ("face", .text("face"), nil), ("warm.cube", .text("warm.cube"), nil),
      ("color", .text("color"), nil),
      ("\"true\"", .text("true"), nil), ("\"nan\"", .text("nan"), nil),
      ("\"face\"", .text("face"), "face"), ("\"\"", .text(""), nil),
      ("\"a b, (c) @off ]\"", .text("a b, (c) @off ]"), nil),
      (
        #""\"\\\n\r\t\u{e9}\u{1f600}\u{7}""#, .text("\"\\\n\r\té😀\u{7}"),
        #""\"\\\n\r\té😀\u{7}""#
      ),
      ("\"line\nbreak\"", .text("line\nbreak"), #""line\nbreak""#),
    ] as [(String, ParameterValue, String?)])
  func `reads each kind of value, and writes it in one way`(
    text: String, value: ParameterValue, canonical: String?
  ) throws {
    let pipeline: Pipeline = [.filter("f", ["p": value])]
    #expect(try Pipeline(text: "f(p: \(text))") == pipeline)
    #expect(pipeline.text == "f(p: \(canonical ?? text))")
  }

  @Test func `reads a number that is none, for the catalogue to refuse`() throws {
    let pipeline = try Pipeline(text: "f(p: nan, q: [1, nan])")
    guard case .filter(let call) = pipeline.stages[0].content,
      case .number(let number) = call.parameters["p"],
      case .vector(let numbers) = call.parameters["q"]
    else { throw Mismatch() }
    #expect(number.isNaN)
    #expect(numbers[0] == 1 && numbers[1].isNaN)
    #expect(pipeline.text == "f(p: nan, q: [1, nan])")
  }

  @Test func `reads what stages are called and how they are mixed in`() throws {
    let text = """
      look: sepiaTone(intensity: 0.8) @mix(0.5) @region(0, 10px, 0.5w, 1h) @off, \
      "my look": [blur] @off, "": a
      """
    let pipeline = try Pipeline(text: text)
    let region = Region(
      origin: FramePoint(x: Length(0), y: Length(10)), width: Length(0.5, .width),
      height: Length(1, .height))
    #expect(
      pipeline == [
        Stage(
          .filter(FilterCall(name: "sepiaTone", parameters: ["intensity": .number(0.8)])),
          id: "look", isActive: false, mix: 0.5, region: region),
        Stage(.pipeline([.filter("blur")]), id: "my look", isActive: false),
        Stage(.filter(FilterCall(name: "a")), id: ""),
      ])
    #expect(pipeline.text == text.replacing("10px", with: "10"))
  }

  @Test func `writes parameters in the order of their names`() {
    let pipeline: Pipeline = [.filter("f", ["b": .number(2), "c": .number(3), "a": .number(1)])]
    #expect(pipeline.text == "f(a: 1, b: 2, c: 3)")
  }

  @Test(arguments: 0 ..< 20)
  func `of any pipeline reads back as that pipeline`(seed: UInt64) throws {
    var random = RandomPipelines(seed: seed)
    for _ in 0 ..< 200 {
      let pipeline = random.pipeline()
      let text = pipeline.text
      #expect(try Pipeline(text: text) == pipeline, "\(text)")
    }
  }

  @Test func `shows what is nested too deeply without following it`() {
    var pipeline: Pipeline = [.filter("a")]
    for _ in 0 ..< 50 { pipeline = [Stage(.pipeline(pipeline))] }
    #expect(pipeline.text == "[[[[[[[[...]]]]]]]]")
  }

  private struct Mismatch: Error {}
}
