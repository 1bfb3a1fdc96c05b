import SidelightKernels

/// Reads a pipeline's text by recursive descent; ``PipelineText`` has the grammar. Only brackets
/// recurse, at most ``Pipeline/maxDepth`` deep, of which the text itself is one.
struct PipelineTextParser {
  var cursor: PipelineTextCursor
  /// Where the parts that were read stand.
  private(set) var locations = PipelineTextLocations()
  private var stageCount = 0

  init(_ text: String) {
    self.cursor = PipelineTextCursor(text)
  }

  /// Reads the whole text.
  mutating func parse() throws(PipelineTextError) -> Pipeline {
    guard self.cursor.count <= PipelineText.maxLength else {
      throw self.cursor.fault(
        "the text has \(self.cursor.count) bytes, the limit is \(PipelineText.maxLength)",
        at: PipelineText.maxLength)
    }
    self.cursor.skipSpace()
    self.locations.record("stages", start: self.cursor.offset)
    if self.cursor.current == nil { return Pipeline() }
    let pipeline = try self.parsePipeline(path: "", depth: 1)
    self.cursor.skipSpace()
    guard self.cursor.current == nil else {
      throw self.cursor.fault(
        self.cursor.current == UInt8(ascii: "]")
          ? "there is no '[' before this ']'"
          : "expected ',' and another filter, or '@', or the end, found \(self.cursor.found)")
    }
    return pipeline
  }

  /// Reads a working space, or at least one stage, or both.
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

  /// Reads the name of a working space and the space behind it; otherwise nothing.
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
      throw self.cursor.fault("the pipeline has more than \(Pipeline.maxStages) stages")
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
      throw self.cursor.fault("expected a filter's name or '[', found \(self.cursor.found)")
    }
    var stage = Stage(content, id: id)
    try self.parseAttributes(of: &stage, path: path)
    return stage
  }

  /// Reads the rest of a nested pipeline, from behind its bracket.
  private mutating func parseNested(
    path: String, from start: Int, depth: Int
  ) throws(PipelineTextError) -> Pipeline {
    guard depth < Pipeline.maxDepth else {
      throw self.cursor.fault("pipelines nest deeper than \(Pipeline.maxDepth)", at: start)
    }
    if self.cursor.take("]") { return Pipeline() }
    let pipeline = try self.parsePipeline(path: path, depth: depth + 1)
    guard self.cursor.take("]") else {
      throw self.cursor.fault("expected ',' or ']', found \(self.cursor.found)")
    }
    return pipeline
  }

  /// Reads a name that is followed by a colon; otherwise nothing.
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
        throw self.cursor.fault(
          "expected a parameter's name, as in 'intensity: 0.8', found \(self.cursor.found)")
      }
      guard self.cursor.take(":") else {
        throw self.cursor.fault(
          "expected ':' and a value after '\(name.clipped(toBytes: 40))', found \(self.cursor.found)"
        )
      }
      guard parameters[name] == nil else {
        throw self.cursor.fault("'\(name.clipped(toBytes: 40))' is given twice", at: start)
      }
      self.cursor.skipSpace()
      let valueStart = self.cursor.offset
      parameters[name] = try self.parseValue()
      // The catalogue's paths have the first 64 characters of a name, too.
      self.locations.record(
        "\(path).filter.parameters[\"\(name.clipped(toBytes: 64))\"]", start: start,
        value: valueStart)
    } while self.cursor.take(",")
    guard self.cursor.take(")") else {
      throw self.cursor.fault("expected ',' or ')', found \(self.cursor.found)")
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
          origin: Point(x: lengths[0].length, y: lengths[1].length), width: lengths[2].length,
          height: lengths[3].length)
      default:
        throw self.cursor.fault("expected @off, @mix(...) or @region(...)", at: start)
      }
      if let name, !seen.insert(name).inserted {
        throw self.cursor.fault("@\(name) is given twice", at: start)
      }
    }
  }

  /// Reads a word or a quoted text; `nil` if none starts here.
  mutating func parseName() throws(PipelineTextError) -> String? {
    if let word = self.cursor.takeWord() { return word }
    return try self.cursor.takeQuoted()
  }
}
