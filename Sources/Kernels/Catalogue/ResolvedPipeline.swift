/// A pipeline whose filters exist and whose parameters are right: what plans are made from.
///
/// Two that came from the same catalogue are equal if they do the same; so it serves as a key.
public struct ResolvedPipeline: Sendable, Hashable {
  package let stages: [ResolvedStage]

  /// Where colour is computed.
  public let workingSpace: WorkingSpace

  /// What the results are brought to; not a stage, so that it has no say in what is active.
  public private(set) var shape = FrameShape()

  package init(items: [ResolvedStage], workingSpace: WorkingSpace = .sRGBGamma) {
    self.stages = items
    self.workingSpace = workingSpace
  }

  /// A pipeline without stages: every frame comes back as it is.
  public static let empty = ResolvedPipeline(items: [])

  /// The same pipeline, whose results are brought to a shape.
  public func shaped(_ shape: FrameShape) -> ResolvedPipeline {
    var result = self
    result.shape = shape
    return result
  }

  /// The names of the filters that are active, in order, nested ones included.
  public var activeFilters: [String] { Self.activeFilters(of: self.stages) }

  /// What is done to frames of the given geometry, as passes. Pure; keep the result, or ask a
  /// ``PlanCache``.
  ///
  /// - Parameters:
  ///   - geometry: What goes in.
  ///   - encoding: What results are to be encoded as; by default like what goes in. Where alpha gets
  ///     lost, the picture stands before black; where it appears, it is 255.
  ///   - maxBytes: What the plan may hold in memory (``Plan/byteCost``), by default any amount. One
  ///     that would hold more is refused (``Plan/refusal``), before much more is allocated.
  public func plan(
    for geometry: FrameGeometry, as encoding: FrameEncoding? = nil, maxBytes: Int = .max
  ) -> Plan {
    Planner(geometry: geometry, budget: PlanBudget(limit: maxBytes)).plan(self, as: encoding)
  }

  /// What happens to a frame if a pass fails: the strictest policy that the stages of its filters
  /// state; `nil` if they state none.
  ///
  /// - Parameter filters: The pass's filters, as ``PassDescription/filters`` has them.
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

  /// Whether any of its filters, active or not, uses an asset that the condition holds for.
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
