/// Modifiers, which return a changed copy: `.sepiaTone().mix(0.5).named("look")`.
extension Stage {
  /// Creates a stage from a nested pipeline: `.pipeline([.pixellate(scale: 12), .hueAdjust(angle:
  /// 1)])`.
  public static func pipeline(_ pipeline: Pipeline) -> Stage {
    Stage(.pipeline(pipeline))
  }

  /// Blends the stage's result with its input.
  ///
  /// - Parameter share: The share of the result, 0 to 1: 0 is the input, 1 the result.
  public func mix(_ share: Double) -> Stage {
    var stage = self
    stage.mix = share
    return stage
  }

  /// Limits the stage's result to a rectangle of the frame.
  public func region(_ region: Region) -> Stage {
    var stage = self
    stage.region = region
    return stage
  }

  /// Limits the stage's result to a rectangle of the frame: `.region(0, 0, .width(0.5),
  /// .height(1))`.
  ///
  /// - Parameters:
  ///   - left: The left edge.
  ///   - top: The top edge.
  ///   - width: The width.
  ///   - height: The height.
  public func region(_ left: Length, _ top: Length, _ width: Length, _ height: Length) -> Stage {
    self.region(Region(origin: FramePoint(x: left, y: top), width: width, height: height))
  }

  /// Gives the stage an id, which messages during a session use to turn it on and off and to set
  /// its parameters.
  public func named(_ id: String) -> Stage {
    var stage = self
    stage.id = id
    return stage
  }

  /// The stage turned off; a session can turn it on.
  public var off: Stage {
    var stage = self
    stage.isActive = false
    return stage
  }

  /// Sets the policy for frames for which this stage fails.
  public func onFailure(_ policy: FailurePolicy) -> Stage {
    var stage = self
    stage.failurePolicy = policy
    return stage
  }

  /// The stage computed in linear light, as a nested pipeline; see ``WorkingSpace/sRGBLinear``. An
  /// id stays with the stage inside.
  public var inLinearLight: Stage {
    .pipeline(Pipeline(stages: [self], workingSpace: .sRGBLinear))
  }
}

extension Length: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  /// Creates a length in pixels.
  public init(integerLiteral pixels: Int) {
    self.init(Double(pixels), .pixels)
  }

  /// Creates a length in pixels.
  public init(floatLiteral pixels: Double) {
    self.init(pixels, .pixels)
  }

  /// Creates a length in pixels.
  public static func pixels(_ count: Double) -> Length { Length(count, .pixels) }

  /// Creates a length as a fraction of the frame's width.
  public static func width(_ fraction: Double) -> Length { Length(fraction, .width) }

  /// Creates a length as a fraction of the frame's height.
  public static func height(_ fraction: Double) -> Length { Length(fraction, .height) }

  /// Creates a length as a fraction of the lesser of the frame's width and height.
  public static func shortSide(_ fraction: Double) -> Length { Length(fraction, .shortSide) }
}

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
