import SidelightKernels
import SidelightWire
import Testing

@Suite struct `A fault in a pipeline's text` {
  /// Texts, the column of the caret, and words of the message.
  static let errors: [(String, Int, String)] = [
    (",", 1, "expected a filter's name or '[', found ','"),
    ("sepia,", 7, "expected a filter's name or '[', found the end"),
    ("sepia, , mono", 8, "found ','"),
    ("sepia mono", 7, "expected ',' and another filter, or '@', or the end, found 'm'"),
    ("sepia)", 6, "found ')'"),
    ("sepia]", 6, "there is no '[' before this ']'"),
    ("[sepia", 7, "expected ',' or ']', found the end"),
    ("[sepia)", 7, "expected ',' or ']', found ')'"),
    ("[sepia,]", 8, "expected a filter's name"),
    ("[", 2, "expected a filter's name or '[', found the end"),
    ("12", 1, "expected a filter's name"),
    ("look:", 6, "expected a filter's name or '[', found the end"),
    ("a: b: c", 5, "found ':'"),
    ("sepia(", 7, "expected a parameter's name, as in 'intensity: 0.8', found the end"),
    ("sepia(0.8)", 7, "expected a parameter's name, as in 'intensity: 0.8', found '0'"),
    ("sepia(intensity)", 16, "expected ':' and a value after 'intensity', found ')'"),
    ("sepia(intensity 0.8)", 17, "expected ':' and a value after 'intensity', found '0'"),
    ("sepia(intensity = 0.8)", 17, "found '='"),
    ("sepia(intensity:)", 17, "expected a value, found ')'"),
    ("sepia(intensity: 0,8)", 20, "expected a parameter's name"),
    ("sepia(intensity: 0.8", 21, "expected ',' or ')', found the end"),
    ("sepia(intensity: 0.8 0.9)", 22, "expected ',' or ')', found '0'"),
    ("sepia(a: 1, a: 2)", 13, "'a' is given twice"),
    ("f(p: 1.2.3)", 6, "'1.2.3' is not a number"),
    ("f(p: --1)", 6, "'--1' is not a number"),
    ("f(p: -)", 6, "'-' is not a number"),
    ("f(p: 12em)", 8, "expected one of the units px, w, h, min, found 'em'"),
    ("f(p: 12e)", 8, "found 'e'"),
    ("f(p: 50%)", 8, "expected ',' or ')', found '%'"),
    ("f(p: (1))", 8, "expected ',' and another number, found ')'"),
    ("f(p: (1, 2, 3))", 13, "expected ')' after 2 numbers"),
    ("f(p: (1, x))", 10, "expected a length, found 'x'"),
    ("f(p: ())", 7, "expected a length, found ')'"),
    ("f(p: [1, 2)", 11, "expected ',' or ']', found ')'"),
    ("f(p: [1, 2w])", 11, "expected ',' or ']', found 'w'"),
    ("f(p: [1,])", 9, "expected a number, found ']'"),
    ("f(p: #12345)", 6, "expected a colour: # and 6 or 8 hexadecimal digits"),
    ("f(p: #12345g)", 6, "expected a colour"),
    ("f(p: #123456789)", 6, "expected a colour"),
    ("f(p: color(1, 2))", 16, "expected ',' and another number, found ')'"),
    ("f(p: color(1, 2, 3, 4, 5))", 24, "expected ')' after 4 numbers"),
    ("f(p: \"abc)", 6, "no closing quote"),
    ("f(p: \"a\\q\")", 8, "expected one of the escapes"),
    ("f(p: \"\\u{110000}\")", 7, "expected a character's number"),
    ("f(p: \"\\u{d800}\")", 7, "expected a character's number"),
    ("f(p: \"\\u{}\")", 7, "expected a character's number"),
    ("f(p: \"\\", 7, "expected one of the escapes"),
    ("f @mx(1)", 3, "expected @off, @mix(...) or @region(...)"),
    ("f @", 3, "expected @off"),
    ("f @mix", 7, "expected '(', found the end"),
    ("@dark f", 1, "expected a filter's name or '[', found '@'"),
    ("f, @linear g", 4, "expected a filter's name or '[', found '@'"),
    ("f @linear", 3, "expected @off, @mix(...) or @region(...)"),
    ("@linear ,f", 9, "expected a filter's name or '[', found ','"),
    ("f @mix()", 8, "expected a number, found ')'"),
    ("f @mix(1, 2)", 11, "expected ')' after 1 numbers"),
    ("f @mix(0.5w)", 11, "expected ')', found 'w'"),
    ("f @off @off", 8, "@off is given twice"),
    ("f @region(0, 0, 1)", 18, "expected ',' and another number, found ')'"),
    ("é", 1, "found 'é'"),
    ("\"é👩‍👩‍👧\": f(p: %)", 12, "expected a value, found '%'"),
    ("a; b", 2, "found ';'"),
  ]

  @Test(arguments: errors)
  func `is pointed at, character by character`(text: String, column: Int, words: String) throws {
    let error = try #require(throws: PipelineTextError.self) { try PipelineText(text) }
    #expect(error.column == column)
    #expect(error.line == 1)
    #expect(error.message.contains(words), "\(error.message)")
    #expect(error.cause == nil)
    #expect(error.rendering == text + "\n" + String(repeating: " ", count: column - 1) + "^")
    let before = text.prefix(column - 1)
    #expect(error.utf8Offset == before.utf8.count)
  }

  @Test func `in a later line shows that line`() throws {
    let text = "sepia(\n\tintensity: 0.8\n),\n\tmono(x: ])"
    let error = try #require(throws: PipelineTextError.self) { try PipelineText(text) }
    #expect(error.line == 4)
    #expect(error.column == 10)
    #expect(error.rendering == " mono(x: ])\n         ^")
    #expect(error.description.hasPrefix("line 4, column 10: expected a value, found ']'\n mono"))
  }

  @Test func `far along a line shows its surroundings`() throws {
    let text = String(repeating: "a, ", count: 60) + "%" + String(repeating: " , b", count: 60)
    let error = try #require(throws: PipelineTextError.self) { try PipelineText(text) }
    #expect(error.column == 181)
    let lines = error.rendering.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].hasPrefix("...") && lines[0].hasSuffix("..."))
    #expect(lines[0].count == 86)
    let caret = try #require(lines[1].firstIndex(of: "^"))
    let offset = lines[1].distance(from: lines[1].startIndex, to: caret)
    #expect(Array(lines[0])[offset] == "%")
  }

  @Test func `is shown without the control characters of the text`() throws {
    let error = try #require(throws: PipelineTextError.self) {
      try PipelineText("a\u{1b}[2J\u{202e}")
    }
    #expect(error.rendering == "a?[2J?\n ^")
    #expect(error.message.contains("control character 27"))
    #expect(!error.message.contains("\u{1b}"))
  }

  @Test func `of length is found before anything is parsed`() throws {
    let fits = "f(p: \"" + String(repeating: "x", count: PipelineText.maxLength - 8) + "\")"
    #expect(fits.utf8.count == PipelineText.maxLength)
    _ = try PipelineText(fits)
    let error = try #require(throws: PipelineTextError.self) { try PipelineText(fits + " ") }
    #expect(error.message == "the text has 16385 bytes, the limit is 16384")
    #expect(error.utf8Offset == 16384)
  }

  @Test func `of depth is pointed at, even if there are thousands of brackets`() throws {
    let deepest = String(repeating: "[", count: 7) + "a" + String(repeating: "]", count: 7)
    _ = try PipelineText(deepest)
    for text in ["[\(deepest)]", String(repeating: "[", count: 16000)] {
      let error = try #require(throws: PipelineTextError.self) { try PipelineText(text) }
      #expect(error.message == "pipelines nest deeper than 8")
      #expect(error.column == 8)
    }
  }

  @Test func `of number is pointed at: the stage that is one too many`() throws {
    let fits = Array(repeating: "a", count: 64).joined(separator: ",")
    #expect(try PipelineText(fits).pipeline.stages.count == 64)
    let error = try #require(throws: PipelineTextError.self) { try PipelineText(fits + ",b") }
    #expect(error.message == "the pipeline has more than 64 stages")
    #expect(error.column == 129)
  }

  @Test func `of any kind is an error, and nothing worse`() {
    var random = RandomPipelines(seed: 42)
    let alphabet = Array("ab1.-e(),[]:@#\"\\ u{}w%é\n")
    var refused = 0
    for _ in 0 ..< 3000 {
      // A sound text with a few characters changed, and plain noise.
      var text = Array(random.pipeline().text)
      if text.isEmpty {
        text = (0 ..< 30).map { _ in alphabet.randomElement(using: &random) ?? "a" }
      }
      for _ in 0 ..< 2 {
        text[Int.random(in: 0 ..< text.count, using: &random)] =
          alphabet.randomElement(using: &random) ?? "a"
      }
      do {
        let pipeline = try Pipeline(text: String(text))
        #expect(pipeline.stages.count <= Pipeline.maxStages)
      } catch {
        #expect(error.rendering.hasSuffix("^"))
        #expect(error.utf8Offset <= error.text.utf8.count)
        refused += 1
      }
    }
    #expect(refused > 1000)
  }
}
