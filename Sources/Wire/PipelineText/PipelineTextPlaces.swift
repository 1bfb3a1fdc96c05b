import SidelightKernels

/// Where the parts of a pipeline stand in its text, by the paths that ``PipelineError`` uses.
struct PipelineTextLocations: Sendable {
  /// Where a part stands.
  private struct Location: Sendable {
    /// Bytes from the start of the text to the part, or to its name.
    var start: Int
    /// Bytes to its value, for a part that has a name and a value.
    var value: Int?
  }

  private var locations: [String: Location] = [:]

  /// Notes where a part starts.
  ///
  /// - Parameters:
  ///   - path: For example `stages[1].filter.parameters["radius"]`.
  ///   - start: The offset of the part, or of its name.
  ///   - value: The offset of its value, if it has one.
  mutating func record(_ path: String, start: Int, value: Int? = nil) {
    self.locations[path] = Location(start: start, value: value)
  }

  /// The offset that a complaint is about: that of the part at its path, or else of the nearest
  /// part around it that stands in the text.
  func offset(of error: PipelineError) -> Int {
    let around = self.locations.filter { Self.isPath($0.key, at: error.path) }
    guard let place = around.max(by: { $0.key.utf8.count < $1.key.utf8.count })?.value else {
      return 0
    }
    switch error.code {
    case .unknownParameter, .duplicateParameter: return place.start
    default: return place.value ?? place.start
    }
  }

  /// Whether one path is another, or leads to it.
  private static func isPath(_ outer: String, at path: String) -> Bool {
    guard path.hasPrefix(outer) else { return false }
    let rest = path.dropFirst(outer.count)
    return rest.isEmpty || rest.hasPrefix(".") || rest.hasPrefix("[")
  }
}
