/// What somebody wishes to be done to frames: stages, in order. It says nothing of whether the
/// filters exist; ``FilterCatalogue/resolve(_:)`` finds out.
public struct Pipeline: Sendable, Hashable, ExpressibleByArrayLiteral {
  /// The stages, first to last. None returns every frame as it came.
  public var stages: [Stage]

  /// Strings stages together.
  public init(stages: [Stage] = []) {
    self.stages = stages
  }

  /// Strings stages together: `[.filter("sepiaTone"), .filter("vignette")]`.
  public init(arrayLiteral stages: Stage...) {
    self.stages = stages
  }

  /// The most stages a pipeline may have, nested ones included.
  public static let maxStages = 64
  /// The deepest that pipelines may nest.
  public static let maxDepth = 8
}
