/// Turns a pipeline into passes for one geometry. Pure: it sees no pixels.
struct Planner {
  private let geometry: FrameGeometry

  init(geometry: FrameGeometry) {
    self.geometry = geometry
  }

  func plan(_ pipeline: ResolvedPipeline) -> Plan {
    var steps: [StripProgram.Step] = []
    var matrix = ColorMatrix.identity
    for node in self.nodes(pipeline.stages) {
      switch node.kind {
      case .matrix(let next): matrix = matrix.followed(by: next)
      case .field(let field):
        steps += [.matrix(StripMatrix(matrix)), .field(field)]
        matrix = .identity
      }
    }
    if matrix != .identity { steps.append(.matrix(StripMatrix(matrix))) }
    guard !steps.isEmpty,
      let layout = try? FrameLayout(aligned: self.geometry.format, size: self.geometry.size)
    else { return Plan(input: self.geometry, output: self.geometry, steps: []) }
    let description = PassDescription(
      filters: pipeline.activeFilters, kind: .pointwise, words: "colour pass, in strips")
    let pass = StripPass(
      description: description, program: StripProgram(steps: steps), color: self.geometry.color)
    return Plan(
      input: self.geometry, output: self.geometry,
      steps: [PlannedPass(pass: pass, inputs: [0], layout: layout, depth: .eight)])
  }

  private func nodes(_ stages: [ResolvedStage]) -> [Node] {
    stages.filter(\.isActive).flatMap { stage in
      switch stage.content {
      case .filter(_, _, let value): value.nodes(for: self.geometry)
      case .stages(let inner): self.nodes(inner)
      }
    }
  }
}
