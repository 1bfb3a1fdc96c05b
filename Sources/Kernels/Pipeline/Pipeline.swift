/// What somebody wishes to be done to frames: stages, in order. It says nothing of whether the
/// filters exist; ``FilterCatalogue/resolve(_:)`` finds out.
public struct Pipeline: Sendable, Hashable, ExpressibleByArrayLiteral {
  /// The stages, first to last. None returns every frame as it came.
  public var stages: [Stage]
  /// Where colour is computed. `nil` is that of the pipeline round this one, and gamma-encoded sRGB
  /// for the outermost: so a nested pipeline that says nothing equals its stages in its place. One
  /// that says another space converts before its first stage and after its last; what its stage's
  /// mix and region say is done in the outer space.
  public var workingSpace: WorkingSpace?

  /// Strings stages together.
  public init(stages: [Stage] = []) {
    self.init(stages: stages, workingSpace: nil)
  }

  /// Strings stages together, with a working space of their own.
  public init(stages: [Stage] = [], workingSpace: WorkingSpace?) {
    self.stages = stages
    self.workingSpace = workingSpace
  }

  /// Strings stages together: `[.filter("sepiaTone"), .filter("vignette")]`.
  public init(arrayLiteral stages: Stage...) {
    self.stages = stages
  }

  /// The number of stages, nested ones and the stages that hold them included.
  package var stageCount: Int {
    self.stages.reduce(0) { count, stage in
      guard case .pipeline(let nested) = stage.content else { return count + 1 }
      return count + 1 + nested.stageCount
    }
  }

  /// The most stages a pipeline may have, nested ones included.
  public static let maxStages = 64
  /// The deepest that pipelines may nest.
  public static let maxDepth = 8
  /// The most bytes of a stage's id.
  public static let maxStageIDBytes = 64
  /// The most bytes of the name of a filter or a parameter.
  public static let maxNameBytes = 64
  /// The most bytes of a text value.
  public static let maxTextBytes = 1024
  /// The most numbers of a vector.
  public static let maxVectorValues = 1024
  /// The most parameters that one filter may be given.
  public static let maxParameters = 64
}
