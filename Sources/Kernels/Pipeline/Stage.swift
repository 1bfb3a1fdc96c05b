/// One step of a pipeline: a filter or a nested pipeline.
public struct Stage: Sendable, Hashable {
  /// The id that later messages use to address the stage, unique within the pipeline; may be `nil`.
  public var id: String?
  /// Whether the stage is active. The pipeline skips inactive stages.
  public var isActive: Bool
  /// The weight of the stage's result, 0 ... 1: 0 is the input, 1 (the default) the result.
  public var mix: Double
  /// The region to which the stage's result is limited; `nil` applies it to the whole frame.
  public var region: Region?
  /// The filter or the nested pipeline.
  public var content: Content
  /// The outcome of a frame if this stage fails; `nil` uses the session's policy.
  public var failurePolicy: FailurePolicy?

  /// The content of a stage.
  public indirect enum Content: Sendable, Hashable {
    /// A filter by name.
    case filter(FilterCall)
    /// A nested pipeline; the planner flattens it.
    case pipeline(Pipeline)
  }

  /// Creates a stage; by default active, at full weight and on the whole frame.
  public init(
    _ content: Content, id: String? = nil, isActive: Bool = true, mix: Double = 1,
    region: Region? = nil, failurePolicy: FailurePolicy? = nil
  ) {
    self.id = id
    self.isActive = isActive
    self.mix = mix
    self.region = region
    self.content = content
    self.failurePolicy = failurePolicy
  }

  /// Creates a stage of a filter.
  public static func filter(
    _ name: String, _ parameters: [String: ParameterValue] = [:]
  ) -> Stage {
    Stage(.filter(FilterCall(name: name, parameters: parameters)))
  }
}

/// A filter by name, and the parameters that differ from its defaults.
public struct FilterCall: Sendable, Hashable {
  /// The filter's name: `sepiaTone`, or Core Image's own `CISepiaTone`.
  public var name: String
  /// Values by parameter name: `intensity`, or Core Image's own `inputIntensity`.
  public var parameters: [String: ParameterValue]

  /// Creates a call of a filter.
  public init(name: String, parameters: [String: ParameterValue] = [:]) {
    self.name = name
    self.parameters = parameters
  }
}

/// The outcome of a frame if a stage fails.
public enum FailurePolicy: Sendable, Hashable, CaseIterable {
  /// The frame is returned unfiltered.
  case passThrough
  /// The frame is dropped.
  case drop
  /// The frame is returned blurred beyond recognition, which hides private content.
  case blur
}

extension FailurePolicy: Comparable {
  /// Whether the right policy hides more of a failed frame than the left: `passThrough` < `blur` <
  /// `drop`.
  public static func < (left: Self, right: Self) -> Bool { left.strictness < right.strictness }

  private var strictness: Int {
    switch self {
    case .passThrough: 0
    case .blur: 1
    case .drop: 2
    }
  }
}
