/// A pipeline with existing filters and valid parameters, ready to be planned.
///
/// Two resolved pipelines of the same catalogue are equal if they compute the same, and can serve
/// as keys.
public struct ResolvedPipeline: Sendable, Hashable {
  package let stages: [ResolvedStage]

  /// The space in which colour is computed.
  public let workingSpace: WorkingSpace

  /// The shape of results. It is not a stage and does not count as an active filter.
  public private(set) var shape = FrameShape()

  package init(items: [ResolvedStage], workingSpace: WorkingSpace = .sRGBGamma) {
    self.stages = items
    self.workingSpace = workingSpace
  }

  /// A pipeline without stages: it returns every frame unchanged.
  public static let empty = ResolvedPipeline(items: [])

  /// Returns the same pipeline with a shape of results.
  public func shaped(_ shape: FrameShape) -> ResolvedPipeline {
    var result = self
    result.shape = shape
    return result
  }

  /// The names of the filters that are active, in order, nested ones included.
  public var activeFilters: [String] { Self.activeFilters(of: self.stages) }

  /// The outcome of a frame if a pass fails: the strictest policy of the stages of the pass's
  /// filters; `nil` if they don't state a policy.
  ///
  /// - Parameter filters: The pass's filters: ``PassDescription/filters``.
  public func failurePolicy(ofPassWith filters: [String]) -> FailurePolicy? {
    Self.failurePolicy(filters, in: self.stages, around: nil)
  }

  private static func failurePolicy(
    _ filters: [String], in stages: [ResolvedStage], around outer: FailurePolicy?
  ) -> FailurePolicy? {
    stages.filter(\.isActive).compactMap { stage in
      let policy = stage.failurePolicy ?? outer
      switch stage.content {
      case .filter(let name, _, _): return filters.contains(name) ? policy : nil
      case .stages(let inner, _): return Self.failurePolicy(filters, in: inner, around: policy)
      }
    }.max()
  }

  /// Whether an active filter hides a part of every frame. A frame must not be shown without the
  /// result of such a pipeline: after a failure, the outcome is at least a blurred frame.
  public var protects: Bool { Self.protects(self.stages) }

  private static func protects(_ stages: [ResolvedStage]) -> Bool {
    stages.contains { stage in
      guard stage.isActive else { return false }
      switch stage.content {
      case .filter(_, _, let value): return (value as? any SceneFilter)?.protects ?? false
      case .stages(let inner, _): return Self.protects(inner)
      }
    }
  }

  /// Whether any filter, active or not, uses an asset for which the condition holds.
  package func usesAsset(where condition: (Asset) -> Bool) -> Bool {
    Self.usesAsset(self.stages, where: condition)
  }

  private static func usesAsset(
    _ stages: [ResolvedStage], where condition: (Asset) -> Bool
  ) -> Bool {
    stages.contains { stage in
      switch stage.content {
      case .filter(_, let arguments, _): arguments.assets.values.contains(where: condition)
      case .stages(let inner, _): Self.usesAsset(inner, where: condition)
      }
    }
  }

  private static func activeFilters(of stages: [ResolvedStage]) -> [String] {
    stages.filter(\.isActive).flatMap { stage in
      switch stage.content {
      case .filter(let name, _, _): [name]
      case .stages(let inner, _): Self.activeFilters(of: inner)
      }
    }
  }
}

/// A validated stage: a filter as a value, or nested stages.
package struct ResolvedStage: Sendable, Hashable {
  /// The content of a stage.
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

// A filter is a value created from its name and arguments, which therefore represent it.
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
