/// Turns a pipeline into passes for one geometry. Pure: it sees no pixels.
///
/// Stages become items (inactive ones and identities vanish, nested pipelines dissolve); runs of
/// pointwise items become one pass; everything else becomes passes of its own.
struct Planner {
  private let input: FrameGeometry
  /// The geometry after the items so far: some filters change it.
  private var geometry: FrameGeometry

  init(geometry: FrameGeometry) {
    self.input = geometry
    self.geometry = geometry
  }

  func plan(_ pipeline: ResolvedPipeline, as encoding: FrameEncoding? = nil) -> Plan {
    var copy = self
    let items = copy.items(pipeline.stages)
    var builder = PassBuilder(geometry: self.input)
    builder.append(items)
    return builder.finish(as: encoding)
  }

  private mutating func items(_ stages: [ResolvedStage]) -> [PlanItem] {
    stages.flatMap { stage -> [PlanItem] in
      guard stage.isActive, stage.mix > 0 else { return [] }
      var rect: PixelRect?
      if let region = stage.region {
        guard let found = PixelRect(region, in: self.geometry.size) else { return [] }
        rect = found.covers(self.geometry.size) ? nil : found
      }
      let before = self.geometry
      let inner =
        switch stage.content {
        case .filter(let name, _, let value): self.items(value, name)
        case .stages(let stages): self.items(stages)
        }
      // A picture of another size cannot be mixed with what it was.
      guard stage.mix < 1 || rect != nil, !inner.isEmpty, self.geometry == before else {
        return inner
      }
      return [.group(inner, amount: stage.mix, rect: rect)]
    }
  }

  private mutating func items(_ filter: any Filter, _ name: String) -> [PlanItem] {
    let nodes = filter.nodes(for: self.geometry)
    for node in nodes {
      if case .neighborhood(let operation) = node.kind {
        self.geometry = operation.output(for: self.geometry)
      }
    }
    return nodes.map { .node($0, filter: name) }
  }
}
