import SidelightKernels

/// Parses the text of a pipeline using recursive descent; ``PipelineText`` has the grammar. Only
/// brackets recurse, at most ``Pipeline/maxDepth`` levels including the text itself.
struct PipelineTextParser {
  private var cursor: PipelineTextCursor
  private(set) var locations = PipelineTextLocations()
  private var stageCount = 0

  init(_ text: String) {
    self.cursor = PipelineTextCursor(text)
  }

  /// Parses the whole text.
  mutating func parse() throws(PipelineTextError) -> Pipeline {
    guard self.cursor.count <= PipelineText.maxLength else {
      throw self.cursor.error(
        "the text has \(self.cursor.count) bytes, the limit is \(PipelineText.maxLength)",
        at: PipelineText.maxLength, value: self.cursor.count, limit: PipelineText.maxLength)
    }
    self.cursor.skipSpace()
    self.locations.record("stages", start: self.cursor.offset)
    if self.cursor.current == nil { return Pipeline() }
    let pipeline = try self.parsePipeline(path: "", depth: 1)
    self.cursor.skipSpace()
    guard self.cursor.current == nil else {
      throw self.cursor.error(
        self.cursor.current == UInt8(ascii: "]")
          ? "there is no '[' before this ']'"
          : "expected ',' and another filter, or '@', or the end, found \(self.cursor.found)")
    }
    return pipeline
  }

  /// Parses a working space, or at least one stage, or both.
  private mutating func parsePipeline(
    path: String, depth: Int
  ) throws(PipelineTextError) -> Pipeline {
    let space = self.parseWorkingSpace()
    if space != nil, self.cursor.current == nil || self.cursor.current == UInt8(ascii: "]") {
      return Pipeline(workingSpace: space)
    }
    var stages: [Stage] = []
    repeat {
      self.cursor.skipSpace()
      stages.append(try self.parseStage(path: "\(path)stages[\(stages.count)]", depth: depth))
    } while self.cursor.take(",")
    return Pipeline(stages: stages, workingSpace: space)
  }

  /// Parses a working space and the following space. Doesn't move if it returns `nil`.
  private mutating func parseWorkingSpace() -> WorkingSpace? {
    let start = self.cursor.offset
    if self.cursor.take("@") {
      let space = WorkingSpace(text: self.cursor.takeWord() ?? "")
      if space != nil {
        self.cursor.skipSpace()
        return space
      }
    }
    self.cursor.rewind(to: start)
    return nil
  }

  private mutating func parseStage(
    path: String, depth: Int
  ) throws(PipelineTextError) -> Stage {
    self.stageCount += 1
    guard self.stageCount <= Pipeline.maxStages else {
      throw self.cursor.error(
        "the pipeline has more than \(Pipeline.maxStages) stages", limit: Pipeline.maxStages)
    }
    self.locations.record(path, start: self.cursor.offset)
    let id = try self.parseID(path: path)
    self.cursor.skipSpace()
    let start = self.cursor.offset
    let content: Stage.Content
    if self.cursor.take("[") {
      self.locations.record("\(path).pipeline", start: start)
      content = .pipeline(
        try self.parseNested(path: "\(path).pipeline.", from: start, depth: depth))
    } else if let name = try self.parseName() {
      self.locations.record("\(path).filter", start: start)
      content = .filter(FilterCall(name: name, parameters: try self.parseParameters(path: path)))
    } else {
      throw self.cursor.error("expected a filter's name or '[', found \(self.cursor.found)")
    }
    var stage = Stage(content, id: id)
    try self.parseAttributes(of: &stage, path: path)
    return stage
  }

  /// Parses the rest of a nested pipeline after its opening bracket.
  private mutating func parseNested(
    path: String, from start: Int, depth: Int
  ) throws(PipelineTextError) -> Pipeline {
    guard depth < Pipeline.maxDepth else {
      throw self.cursor.error(
        "pipelines nest deeper than \(Pipeline.maxDepth)", at: start, limit: Pipeline.maxDepth)
    }
    if self.cursor.take("]") { return Pipeline() }
    let pipeline = try self.parsePipeline(path: path, depth: depth + 1)
    guard self.cursor.take("]") else {
      throw self.cursor.error("expected ',' or ']', found \(self.cursor.found)")
    }
    return pipeline
  }

  /// Parses a name followed by a colon. Doesn't move if it returns `nil`.
  private mutating func parseID(path: String) throws(PipelineTextError) -> String? {
    let start = self.cursor.offset
    if let name = try self.parseName(), self.cursor.take(":") {
      self.locations.record("\(path).id", start: start)
      return name
    }
    self.cursor.rewind(to: start)
    return nil
  }

  private mutating func parseParameters(
    path: String
  ) throws(PipelineTextError) -> [String: ParameterValue] {
    var parameters: [String: ParameterValue] = [:]
    guard self.cursor.take("("), !self.cursor.take(")") else { return parameters }
    repeat {
      self.cursor.skipSpace()
      let start = self.cursor.offset
      guard let name = try self.parseName() else {
        throw self.cursor.error(
          "expected a parameter's name, as in 'intensity: 0.8', found \(self.cursor.found)")
      }
      guard self.cursor.take(":") else {
        throw self.cursor.error(
          "expected ':' and a value after '\(name.clipped(toBytes: 40))', found \(self.cursor.found)"
        )
      }
      guard parameters[name] == nil else {
        throw self.cursor.error("'\(name.clipped(toBytes: 40))' is given twice", at: start)
      }
      self.cursor.skipSpace()
      let valueStart = self.cursor.offset
      parameters[name] = try self.parseValue()
      // The paths of the catalogue contain the first 64 bytes of a name too.
      self.locations.record(
        "\(path).filter.parameters[\"\(name.clipped(toBytes: 64))\"]", start: start,
        value: valueStart)
    } while self.cursor.take(",")
    guard self.cursor.take(")") else {
      throw self.cursor.error("expected ',' or ')', found \(self.cursor.found)")
    }
    return parameters
  }

  private mutating func parseAttributes(
    of stage: inout Stage, path: String
  ) throws(PipelineTextError) {
    var seen: Set<String> = []
    while self.cursor.take("@") {
      let start = self.cursor.offset - 1
      let name = self.cursor.takeWord()
      switch name {
      case "off":
        stage.isActive = false
      case "mix":
        self.locations.record("\(path).mix", start: start, value: self.cursor.offset + 1)
        stage.mix = try self.parseNumbers(in: "(" ... ")", 1 ... 1)[0]
      case "region":
        self.locations.record("\(path).region", start: start)
        let lengths = try self.parseLengths(in: "(" ... ")", count: 4)
        for (part, length) in zip(["origin.x", "origin.y", "width", "height"], lengths) {
          self.locations.record("\(path).region.\(part)", start: length.start)
        }
        stage.region = Region(
          origin: FramePoint(x: lengths[0].length, y: lengths[1].length), width: lengths[2].length,
          height: lengths[3].length)
      default:
        throw self.cursor.error("expected @off, @mix(...) or @region(...)", at: start)
      }
      if let name, !seen.insert(name).inserted {
        throw self.cursor.error("@\(name) is given twice", at: start)
      }
    }
  }

  /// Parses a word or a quoted text, if one begins here.
  private mutating func parseName() throws(PipelineTextError) -> String? {
    if let word = self.cursor.takeWord() { return word }
    return try self.cursor.takeQuoted()
  }

  // MARK: Values

  private mutating func parseValue() throws(PipelineTextError) -> ParameterValue {
    switch self.cursor.current {
    case UInt8(ascii: "("):
      let lengths = try self.parseLengths(in: "(" ... ")", count: 2)
      return .point(FramePoint(x: lengths[0].length, y: lengths[1].length))
    case UInt8(ascii: "["):
      return .vector(try self.parseNumbers(in: "[" ... "]", 0 ... Int.max))
    case UInt8(ascii: "#"):
      return .color(try self.parseHexColor())
    default:
      break
    }
    if let text = try self.cursor.takeQuoted() { return .text(text) }
    if let word = self.cursor.takeWord() {
      switch word {
      case "true": return .flag(true)
      case "false": return .flag(false)
      case "nan": return .number(.nan)
      case "color" where self.cursor.current == UInt8(ascii: "("):
        let channels = try self.parseNumbers(in: "(" ... ")", 3 ... 4)
        return .color(
          RGBAColor(
            red: channels[0], green: channels[1], blue: channels[2],
            alpha: channels.count == 4 ? channels[3] : 1))
      default: return .text(word)
      }
    }
    guard let number = try self.parseNumber() else {
      throw self.cursor.error("expected a value, found \(self.cursor.found)")
    }
    guard let unit = try self.parseUnit() else { return .number(number) }
    return .length(Length(number, unit))
  }

  private mutating func parseNumbers(
    in brackets: ClosedRange<Unicode.Scalar>, _ counts: ClosedRange<Int>
  ) throws(PipelineTextError) -> [Double] {
    try self.parseList(in: brackets, counts) { parser throws(PipelineTextError) in
      let start = parser.cursor.offset
      if parser.cursor.takeWord() == "nan" { return Double.nan }
      parser.cursor.rewind(to: start)
      guard let number = try parser.parseNumber() else {
        throw parser.cursor.error("expected a number, found \(parser.cursor.found)")
      }
      return number
    }
  }

  /// Parses a list of lengths in brackets, with their offsets. A number alone is in pixels.
  private mutating func parseLengths(
    in brackets: ClosedRange<Unicode.Scalar>, count: Int
  ) throws(PipelineTextError) -> [(length: Length, start: Int)] {
    try self.parseList(in: brackets, count ... count) { parser throws(PipelineTextError) in
      let start = parser.cursor.offset
      guard let number = try parser.parseNumber() else {
        throw parser.cursor.error("expected a length, found \(parser.cursor.found)")
      }
      return (Length(number, try parser.parseUnit() ?? .pixels), start)
    }
  }

  private mutating func parseList<Element>(
    in brackets: ClosedRange<Unicode.Scalar>, _ counts: ClosedRange<Int>,
    _ parse: (inout Self) throws(PipelineTextError) -> Element
  ) throws(PipelineTextError) -> [Element] {
    var elements: [Element] = []
    guard self.cursor.take(brackets.lowerBound) else {
      throw self.cursor.error("expected '\(brackets.lowerBound)', found \(self.cursor.found)")
    }
    if counts.contains(0), self.cursor.take(brackets.upperBound) { return elements }
    repeat {
      self.cursor.skipSpace()
      guard elements.count < counts.upperBound else {
        throw self.cursor.error("expected '\(brackets.upperBound)' after \(elements.count) numbers")
      }
      elements.append(try parse(&self))
    } while self.cursor.take(",")
    guard elements.count >= counts.lowerBound else {
      throw self.cursor.error("expected ',' and another number, found \(self.cursor.found)")
    }
    guard self.cursor.take(brackets.upperBound) else {
      throw self.cursor.error(
        "expected \(elements.count < counts.upperBound ? "',' or " : "")"
          + "'\(brackets.upperBound)', found \(self.cursor.found)")
    }
    return elements
  }

  /// Parses a number without its unit, if one begins here. Numbers beyond the range of `Double` are
  /// infinite, which the catalogue refuses.
  private mutating func parseNumber() throws(PipelineTextError) -> Double? {
    let start = self.cursor.offset
    guard let first = self.cursor.current, first.isDigit || "+-.".utf8.contains(first) else {
      return nil
    }
    var digits = self.cursor.take { "+-".utf8.contains($0) }
    digits += self.cursor.take { $0.isDigit || $0 == UInt8(ascii: ".") }
    // `1e3` has an exponent. Other text that begins with an e is an unknown unit.
    let beforeExponent = self.cursor.offset
    if let letter = self.cursor.current, "eE".utf8.contains(letter) {
      let sign =
        self.cursor.take { "eE".utf8.contains($0) } + self.cursor.take { "+-".utf8.contains($0) }
      let exponent = self.cursor.take(while: \.isDigit)
      if exponent.isEmpty {
        self.cursor.rewind(to: beforeExponent)
      } else {
        digits += sign + exponent
      }
    }
    guard let number = Double(digits) else {
      throw self.cursor.error("'\(digits.clipped(toBytes: 40))' is not a number", at: start)
    }
    return number
  }

  /// Parses the unit of a length, if it follows immediately.
  private mutating func parseUnit() throws(PipelineTextError) -> Length.Unit? {
    let start = self.cursor.offset
    switch self.cursor.takeWord() {
    case nil: return nil
    case "px": return .pixels
    case "w": return .width
    case "h": return .height
    case "min": return .shortSide
    case let word?:
      throw self.cursor.error(
        "expected one of the units px, w, h, min, found '\(word.clipped(toBytes: 40))'", at: start)
    }
  }

  private mutating func parseHexColor() throws(PipelineTextError) -> RGBAColor {
    let start = self.cursor.offset
    _ = self.cursor.take("#")
    let digits = self.cursor.take { Character(Unicode.Scalar($0)).isHexDigit }
    guard digits.utf8.count == 6 || digits.utf8.count == 8, let value = UInt32(digits, radix: 16)
    else {
      throw self.cursor.error("expected a colour: # and 6 or 8 hexadecimal digits", at: start)
    }
    let rgba = digits.utf8.count == 6 ? value << 8 | 0xFF : value
    func channel(_ shift: UInt32) -> Double { Double(rgba >> shift & 0xFF) / 255 }
    return RGBAColor(red: channel(24), green: channel(16), blue: channel(8), alpha: channel(0))
  }
}
