extension Pipeline {
  /// Turns a stage on or off.
  ///
  /// - Parameter name: The stage's id, or its place: `stages[1]`, `stages[1].pipeline.stages[0]`.
  /// - Throws: ``PipelineError`` with code `unknownStage`, and the nearest id.
  public mutating func setActive(_ isActive: Bool, stage name: String) throws(PipelineError) {
    try self.edit(name) { $0.isActive = isActive }
  }

  /// Changes parameters of a stage; those that are not named stay. Whether the filter has them is the
  /// catalogue's to say.
  ///
  /// - Parameters:
  ///   - parameters: Values by parameter name, in either spelling.
  ///   - name: The stage's id or place, as in ``setActive(_:stage:)``.
  /// - Throws: ``PipelineError`` with code `unknownStage`, and the nearest id; with code
  ///   `invalidStage` if the stage is a pipeline, which has no parameters; or with code `tooLarge`
  ///   for more than ``maxParameters`` values.
  public mutating func setParameters(
    _ parameters: [String: ParameterValue], stage name: String
  ) throws(PipelineError) {
    guard parameters.count <= Self.maxParameters else {
      throw PipelineError(
        code: .tooLarge, path: "parameters",
        message: "has \(parameters.count) entries; the limit is \(Self.maxParameters)")
    }
    var isFilter = true
    try self.edit(name) { stage in
      guard case .filter(var call) = stage.content else {
        isFilter = false
        return
      }
      for (parameter, value) in parameters {
        let canonical = Spelling.canonicalParameter(parameter)
        for known in call.parameters.keys where Spelling.canonicalParameter(known) == canonical {
          call.parameters[known] = nil
        }
        call.parameters[parameter] = value
      }
      stage.content = .filter(call)
    }
    guard isFilter else {
      throw PipelineError(
        code: .invalidStage, path: "stage",
        message: "\"\(name.clipped(toBytes: 64))\" is a pipeline, not a filter")
    }
  }

  private mutating func edit(
    _ name: String, _ body: (inout Stage) -> Void
  ) throws(PipelineError) {
    guard Self.edit(&self.stages, name, path: "", body) else {
      throw PipelineError(
        code: .unknownStage, path: "stage",
        message: "no stage is \"\(name.clipped(toBytes: 64))\"",
        suggestion: Spelling.nearest(to: name, among: Self.ids(of: self.stages)))
    }
  }

  /// - Returns: Whether the stage was found.
  private static func edit(
    _ stages: inout [Stage], _ name: String, path: String, _ body: (inout Stage) -> Void
  ) -> Bool {
    for index in stages.indices {
      let place = "\(path)stages[\(index)]"
      if stages[index].id == name || place == name {
        body(&stages[index])
        return true
      }
      if case .pipeline(var inner) = stages[index].content,
        Self.edit(&inner.stages, name, path: "\(place).pipeline.", body)
      {
        stages[index].content = .pipeline(inner)
        return true
      }
    }
    return false
  }

  private static func ids(of stages: [Stage]) -> [String] {
    stages.flatMap { stage in
      let inner: [String] =
        if case .pipeline(let pipeline) = stage.content { Self.ids(of: pipeline.stages) } else {
          []
        }
      return (stage.id.map { [$0] } ?? []) + inner
    }
  }
}
