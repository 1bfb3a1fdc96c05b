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
