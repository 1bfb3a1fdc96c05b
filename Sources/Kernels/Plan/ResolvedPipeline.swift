/// A pipeline whose filters exist and whose parameters are right: what plans are made from.
///
/// Two that came from the same catalogue are equal if they do the same; so it serves as a key.
public struct ResolvedPipeline: Sendable, Hashable {
  package private(set) var stages: [ResolvedStage]

  package init(items: [ResolvedStage]) {
    self.stages = items
  }

  /// A pipeline without stages: every frame comes back as it is.
  public static let empty = ResolvedPipeline(items: [])

  /// The names of the filters that are active, in order, nested ones included.
  public var activeFilters: [String] { Self.activeFilters(of: self.stages) }

  /// What is done to frames of the given geometry, as passes. Pure; keep the result, or ask a
  /// ``PlanCache``.
  ///
  /// - Parameters:
  ///   - geometry: What goes in.
  ///   - encoding: What results are to be encoded as; by default like what goes in. Where alpha gets
  ///     lost, the picture stands before black; where it appears, it is 255.
  public func plan(for geometry: FrameGeometry, as encoding: FrameEncoding? = nil) -> Plan {
    Planner(geometry: geometry).plan(self, as: encoding)
  }

  /// The same pipeline with one stage turned on or off.
  ///
  /// - Parameters:
  ///   - isActive: Whether the stage does anything.
  ///   - id: The id that the stage was given; stages of nested pipelines are found too.
  /// - Throws: ``PipelineError`` with code `unknownStage`, and the nearest id.
  public func settingActive(
    _ isActive: Bool, stage id: String
  ) throws(PipelineError) -> ResolvedPipeline {
    var copy = self
    guard Self.set(isActive, id, in: &copy.stages) else {
      throw PipelineError(
        code: .unknownStage, path: "stage", message: "no stage has the id \"\(id.prefix(64))\"",
        suggestion: Spelling.nearest(to: id, among: Self.ids(of: self.stages)))
    }
    return copy
  }

  private static func set(
    _ isActive: Bool, _ id: String, in stages: inout [ResolvedStage]
  ) -> Bool {
    for index in stages.indices {
      if stages[index].id == id {
        stages[index].isActive = isActive
        return true
      }
      if case .stages(var inner) = stages[index].content, Self.set(isActive, id, in: &inner) {
        stages[index].content = .stages(inner)
        return true
      }
    }
    return false
  }

  private static func ids(of stages: [ResolvedStage]) -> [String] {
    stages.flatMap { stage in
      let inner: [String] =
        if case .stages(let stages) = stage.content { Self.ids(of: stages) } else { [] }
      return (stage.id.map { [$0] } ?? []) + inner
    }
  }

  private static func activeFilters(of stages: [ResolvedStage]) -> [String] {
    stages.filter(\.isActive).flatMap { stage in
      switch stage.content {
      case .filter(let name, _, _): [name]
      case .stages(let inner): Self.activeFilters(of: inner)
      }
    }
  }
}
