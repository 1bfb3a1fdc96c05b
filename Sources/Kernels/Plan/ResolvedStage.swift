/// A stage after validation: the filter as a value, or stages in its place.
package struct ResolvedStage: Sendable, Hashable {
  /// What the stage does.
  package indirect enum Content: Sendable {
    case filter(name: String, arguments: Arguments, value: any Filter)
    case stages([ResolvedStage], in: WorkingSpace)
  }

  package let id: String?
  package var isActive: Bool
  package let mix: Double
  package let region: Region?
  package let failurePolicy: FailurePolicy?
  package var content: Content
}

// A filter is a value made from its name and arguments, so these stand for it.
extension ResolvedStage.Content: Hashable {
  package static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.filter(let name, let arguments, _), .filter(let otherName, let otherArguments, _)):
      name == otherName && arguments == otherArguments
    case (.stages(let stages, let space), .stages(let others, let otherSpace)):
      stages == others && space == otherSpace
    case (.filter, .stages), (.stages, .filter): false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .filter(let name, let arguments, _):
      hasher.combine(name)
      hasher.combine(arguments)
    case .stages(let stages, let space):
      hasher.combine(stages)
      hasher.combine(space)
    }
  }
}
