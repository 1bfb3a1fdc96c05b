/// One step of a pipeline: a filter, or a pipeline that stands in a filter's place.
public struct Stage: Sendable, Hashable {
  /// A name by which later messages turn the stage on and off, unique within the pipeline; or none.
  public var id: String?
  /// Whether the stage does anything.
  public var isActive: Bool
  /// How much of the stage's result is seen: 0 is the input, 1 (the default) the result.
  public var mix: Double
  /// Where the result is seen; everywhere if `nil`.
  public var region: Region?
  /// What the stage does.
  public var content: Content
  /// What happens to a frame if this stage fails; if `nil`, what its session says.
  public var failurePolicy: FailurePolicy?

  /// What a stage does.
  public indirect enum Content: Sendable, Hashable {
    /// A filter by name.
    case filter(FilterCall)
    /// Stages of its own; flattened before anything is computed.
    case pipeline(Pipeline)
  }

  /// Makes a stage: active, in full and everywhere unless said otherwise.
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

  /// A stage that is a filter.
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

  /// Names a filter, with the parameters that differ from its defaults.
  public init(name: String, parameters: [String: ParameterValue] = [:]) {
    self.name = name
    self.parameters = parameters
  }
}

/// What happens to a frame whose stage failed.
public enum FailurePolicy: Sendable, Hashable, CaseIterable {
  /// The frame comes back as it came.
  case passThrough
  /// The frame is not shown.
  case drop
  /// The frame comes back blurred beyond recognition: what must not be seen stays unseen.
  case blur
}

extension FailurePolicy: Comparable {
  /// Whether less of a failed frame is to be seen under the right policy. What is blurred may tell
  /// something, what is dropped tells nothing.
  public static func < (left: Self, right: Self) -> Bool { left.strictness < right.strictness }

  private var strictness: Int {
    switch self {
    case .passThrough: 0
    case .blur: 1
    case .drop: 2
    }
  }
}
