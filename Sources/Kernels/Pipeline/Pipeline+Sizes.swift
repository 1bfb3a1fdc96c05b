extension Pipeline {
  /// Checks the sizes of all names, texts and lists in the pipeline.
  /// ``FilterCatalogue/resolve(_:)`` does so before it looks at anything else.
  ///
  /// - Throws: ``PipelineError`` with code `tooLarge`, the path of the first violation, and the
  ///   limit.
  public func checkSizes() throws(PipelineError) {
    try self.checkSizes(path: "", depth: 1)
  }

  /// - Parameter path: The pipeline's path, with a trailing dot unless empty.
  private func checkSizes(path: String, depth: Int) throws(PipelineError) {
    for (index, stage) in self.stages.enumerated() {
      let path = "\(path)stages[\(index)]"
      if let id = stage.id { try Self.check(id, atMost: Self.maxStageIDBytes, path: "\(path).id") }
      switch stage.content {
      case .filter(let call): try Self.check(call, path: "\(path).filter")
      case .pipeline(let inner):
        // Resolving refuses what nests deeper.
        guard depth < Self.maxDepth else { continue }
        try inner.checkSizes(path: "\(path).pipeline.", depth: depth + 1)
      }
    }
  }

  private static func check(_ call: FilterCall, path: String) throws(PipelineError) {
    try Self.check(call.name, atMost: Self.maxNameBytes, path: "\(path).name")
    guard call.parameters.count <= Self.maxParameters else {
      throw PipelineError(
        code: .tooLarge, path: "\(path).parameters",
        message: "has \(call.parameters.count) entries; the limit is \(Self.maxParameters)")
    }
    for (name, value) in call.parameters.sorted(by: { $0.key < $1.key }) {
      let path = "\(path).parameters[\"\(name.clipped(toBytes: 64))\"]"
      guard name.utf8.count <= Self.maxNameBytes else {
        throw PipelineError(
          code: .tooLarge, path: path,
          message: "the parameter's name has \(name.utf8.count) bytes; the limit is "
            + "\(Self.maxNameBytes)")
      }
      switch value {
      case .text(let text): try Self.check(text, atMost: Self.maxTextBytes, path: path)
      case .vector(let numbers) where numbers.count > Self.maxVectorValues:
        throw PipelineError(
          code: .tooLarge, path: path,
          message: "has \(numbers.count) numbers; the limit is \(Self.maxVectorValues)")
      case .number, .length, .point, .color, .vector, .flag: break
      }
    }
  }

  private static func check(
    _ text: String, atMost limit: Int, path: String
  ) throws(PipelineError) {
    guard text.utf8.count <= limit else {
      throw PipelineError(
        code: .tooLarge, path: path,
        message: "has \(text.utf8.count) bytes; the limit is \(limit)")
    }
  }
}
