/// A compiler of pipelines to passes for one geometry. Pure: it doesn't read pixels.
///
/// Stages become items: inactive stages and identities are dropped, and nested pipelines are
/// flattened. A run of pointwise items becomes one pass; other items become separate passes.
struct Planner {
  private let input: FrameGeometry
  /// The geometry after the items so far; some filters change it.
  private var geometry: FrameGeometry
  private let budget: PlanBudget
  /// The analyses of the pipeline.
  private var analyses: [PlannedAnalysis] = []
  /// The scene stages of the pipeline, in the order of their passes.
  private var sceneStages: [PlannedSceneStage] = []
  /// The active filters without effect.
  private var idleStages: [IdleStage] = []

  /// Creates a planner for frames of a geometry.
  ///
  /// - Parameter budget: Counts the memory of the plan.
  init(geometry: FrameGeometry, budget: PlanBudget) {
    self.budget = budget
    self.input = geometry
    self.geometry = geometry
  }

  func plan(_ pipeline: ResolvedPipeline, as encoding: FrameEncoding? = nil) -> Plan {
    var copy = self
    let items = Self.convert(
      copy.items(pipeline.stages, in: pipeline.workingSpace, path: ""),
      to: pipeline.workingSpace, from: .sRGBGamma)
    copy.shareScene()
    var builder = PassBuilder(geometry: self.input, budget: self.budget)
    builder.append(items)
    let shaping = pipeline.shape.nodes(for: copy.geometry)
    if !shaping.isEmpty {
      // The shape applies to the finished frames: the pipeline's passes are the same with it and
      // without it.
      builder.makeFrame()
      builder.append(shaping.map { .node($0, filter: FrameShape.name) })
    }
    return builder.finish(
      as: encoding, analyses: copy.analyses, sceneStages: copy.sceneStages,
      idleStages: copy.idleStages)
  }

  /// Returns the items of stages.
  ///
  /// - Parameter path: The path of the stages, with a trailing dot unless empty.
  private mutating func items(
    _ stages: [ResolvedStage], in space: WorkingSpace, path: String
  ) -> [PlanItem] {
    stages.enumerated().flatMap { index, stage -> [PlanItem] in
      guard stage.isActive, stage.mix > 0, !self.budget.isExceeded else { return [] }
      var rect: PixelRect?
      if let region = stage.region {
        guard let found = PixelRect(region, in: self.geometry.size) else { return [] }
        rect = found.covers(self.geometry.size) ? nil : found
      }
      let before = self.geometry
      let path = "\(path)stages[\(index)]"
      let inner =
        switch stage.content {
        case .filter(let name, let arguments, let value):
          self.items(
            value, .init(filter: name, arguments: arguments), in: space, path, id: stage.id)
        case .stages(let stages, let inner):
          Self.convert(
            self.items(stages, in: inner, path: "\(path).pipeline."), to: inner, from: space)
        }
      // A picture of another size cannot be mixed with its input.
      guard stage.mix < 1 || rect != nil, !inner.isEmpty, self.geometry == before else {
        return inner
      }
      return [.group(inner, amount: stage.mix, rect: rect)]
    }
  }

  private mutating func items(
    _ filter: any Filter, _ identity: PlannedAnalysis.Identity, in space: WorkingSpace,
    _ path: String, id: String?
  ) -> [PlanItem] {
    var items: [PlanItem] = []
    let name = identity.filter
    let stage = id ?? path
    let isOpaque = self.geometry.isOpaque
    let nodes = filter.nodes(for: self.geometry, in: space)
      .map { isOpaque ? $0.keepingOpaque : $0 }
    if nodes.allSatisfy(\.isIdentity) {
      self.idleStages.append(IdleStage(path: path, filter: name))
    }
    for node in nodes {
      self.budget.spend(node.byteCost)
      switch node.kind {
      case .analysis(let analysis):
        self.analyses.append(PlannedAnalysis(stage: stage, identity: identity, analysis: analysis))
        continue
      case .neighborhood(let operation): self.geometry = operation.output(for: self.geometry)
      case .scene(let operation):
        self.sceneStages.append(
          PlannedSceneStage(
            stage: stage, filter: name, request: operation,
            protects: (filter as? any SceneFilter)?.protects ?? false))
        self.geometry.size = operation.output(for: self.geometry.size)
        let item = PlanItem.scene(
          operation, index: self.sceneStages.count - 1, filter: name)
        items += Self.convert([item], to: .sRGBGamma, from: space)
        continue
      case .frame, .drawing:
        // The operation reads and writes ordinary frames.
        items += Self.convert([.node(node, filter: name)], to: .sRGBGamma, from: space)
        continue
      case .matrix, .field, .kernel, .source, .window, .mixed: break
      }
      items.append(.node(node, filter: name))
    }
    return items
  }

  /// Makes analyses of faces scene stages, if other stages need faces. They don't have passes, and
  /// follow the stages with passes.
  private mutating func shareScene() {
    guard self.sceneStages.contains(where: { $0.request.faceUse != .unused }) else { return }
    for index in self.analyses.indices {
      guard let analysis = self.analyses[index].analysis as? any SceneAnalysis else { continue }
      self.analyses[index].isInScene = true
      self.sceneStages.append(
        PlannedSceneStage(
          stage: self.analyses[index].stage, filter: self.analyses[index].filter,
          request: analysis.request))
    }
  }

  /// Encloses items of one working space with conversions from another and back.
  private static func convert(
    _ items: [PlanItem], to inner: WorkingSpace, from outer: WorkingSpace
  ) -> [PlanItem] {
    guard inner != outer, !items.isEmpty else { return items }
    return [.convert(to: inner)] + items + [.convert(to: outer)]
  }
}

/// An item between a pipeline's stages and its passes: a node with its filter's name, or a group.
indirect enum PlanItem {
  case node(FilterNode, filter: String)
  /// An operation that depends on the frame's contents, with its number among the scene stages.
  case scene(any SceneOperation, index: Int, filter: String)
  /// A conversion of colour from the other working space into this one.
  case convert(to: WorkingSpace)
  /// Items with a result that is mixed with their input, within a rectangle.
  case group([PlanItem], amount: Double, rect: PixelRect?)

  /// The filter name of conversions between working spaces.
  static let conversionName = "workingSpace"

  /// The item as a pointwise operation, with its filters; `nil` if the item is not pointwise.
  var pointwise: (operation: PointOperation, filters: [String])? {
    switch self {
    case .node(let node, let filter):
      switch node.kind {
      case .matrix(let matrix): return (.matrix(matrix), [filter])
      case .field(let field): return (.field(field), [filter])
      case .kernel(let kernel): return (.kernel(kernel), [filter])
      case .neighborhood, .window, .frame, .scene, .drawing, .analysis, .source: return nil
      case .mixed(let nodes, let amount):
        let items = nodes.map { PlanItem.node($0, filter: filter) }
        return PlanItem.group(items, amount: amount, rect: nil).pointwise
      }
    case .scene(let operation, let index, let filter):
      guard let adaptive = operation as? any AdaptiveOperation, adaptive.isColorMatrix else {
        return nil
      }
      return (.adaptive(adaptive, index: index), [filter])
    case .convert(let space): return (.transfer(to: space), [Self.conversionName])
    case .group(let items, let amount, let rect):
      var operations: [PointOperation] = []
      var filters: [String] = []
      for item in items {
        guard let inner = item.pointwise else { return nil }
        PointOperation.append(inner.operation, to: &operations)
        filters += inner.filters
      }
      if operations.isEmpty { return (.matrix(.identity), []) }
      // A mix of one matrix is a matrix.
      if rect == nil, operations.count == 1, case .matrix(let matrix) = operations[0] {
        return (.matrix(matrix.mixed(amount)), filters)
      }
      return (.group(operations, amount: amount, rect: rect), filters)
    }
  }
}

extension ResolvedPipeline {
  /// Compiles the pipeline to passes for frames of one geometry. Keep the result, or use a
  /// ``PlanCache``.
  ///
  /// - Parameters:
  ///   - geometry: The geometry of input frames.
  ///   - encoding: The encoding of results; by default the input's encoding. A conversion to a
  ///     format without alpha composites the picture on black; a conversion to a format with alpha
  ///     sets alpha to 255.
  ///   - maxBytes: The maximum memory of the plan (``Plan/byteCost``); by default unlimited. A
  ///     larger plan is refused (``Plan/refusal``) soon after the limit is exceeded.
  public func plan(
    for geometry: FrameGeometry, as encoding: FrameEncoding? = nil, maxBytes: Int = .max
  ) -> Plan {
    Planner(geometry: geometry, budget: PlanBudget(limit: maxBytes)).plan(self, as: encoding)
  }
}
