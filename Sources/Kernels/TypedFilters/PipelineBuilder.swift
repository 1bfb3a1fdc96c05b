/// Builds a pipeline from stages in braces.
///
/// ```swift
/// let look = Pipeline { .sepiaTone(intensity: 0.8); .vignette(intensity: 1) }
/// ```
///
/// Two stages on separate lines need a semicolon between them, because a line that begins with a
/// dot continues the previous line. An array literal (`[.sepiaTone(), .vignette()]`) doesn't, but
/// cannot contain `if` and `for`. A ``Pipeline`` among the stages is a nested pipeline.
@resultBuilder
public enum PipelineBuilder {
  /// Adds a stage.
  public static func buildExpression(_ stage: Stage) -> [Stage] { [stage] }

  /// Adds a nested pipeline.
  public static func buildExpression(_ pipeline: Pipeline) -> [Stage] { [.pipeline(pipeline)] }

  /// Joins the stages of a block.
  public static func buildBlock(_ stages: [Stage]...) -> [Stage] { stages.flatMap(\.self) }

  /// Adds the stages of an `if` with a condition that is true.
  public static func buildOptional(_ stages: [Stage]?) -> [Stage] { stages ?? [] }

  /// Adds the stages of the first branch.
  public static func buildEither(first stages: [Stage]) -> [Stage] { stages }

  /// Adds the stages of the second branch.
  public static func buildEither(second stages: [Stage]) -> [Stage] { stages }

  /// Adds the stages of all iterations of a loop.
  public static func buildArray(_ stages: [[Stage]]) -> [Stage] { stages.flatMap(\.self) }

  /// Adds the stages of an `if #available`.
  public static func buildLimitedAvailability(_ stages: [Stage]) -> [Stage] { stages }
}

extension Pipeline {
  /// Creates a pipeline from stages in braces; see ``PipelineBuilder``.
  ///
  /// - Parameters:
  ///   - workingSpace: The space in which colour is computed; see ``Pipeline/workingSpace``.
  ///   - stages: The stages, first to last.
  public init(
    workingSpace: WorkingSpace? = nil, @PipelineBuilder _ stages: () throws -> [Stage]
  ) rethrows {
    self.init(stages: try stages(), workingSpace: workingSpace)
  }
}
