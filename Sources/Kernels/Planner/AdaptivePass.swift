/// A pass that compiles and runs the nodes of an adaptive operation for every frame.
///
/// Compiling takes microseconds: the nodes don't hold pictures or large fields.
struct AdaptivePass: OperationPass {
  let setting: PassSetting
  private let operation: any AdaptiveOperation
  private let index: Int

  /// - Parameter index: The number of the stage among the plan's scene stages.
  init(_ setting: PassSetting, _ operation: some AdaptiveOperation, index: Int) {
    self.setting = setting
    self.operation = operation
    self.index = index
  }

  /// The inner plan never writes memory that one of its passes still reads.
  var worksInPlace: Bool { true }

  func run(_ context: PassContext) async throws {
    let drawing = context.scene?.drawing(of: self.index, as: AdaptiveDrawing.self)
    let run = PlanRun(
      plan: self.plan(for: drawing?.value), time: context.time, scene: nil,
      details: context.details, pool: context.pool, bands: context.bands)
    _ = try await run(on: context.inputs[0], into: context.output, NoPassObserver())
  }

  /// The plan of the nodes for a value; without passes if they don't change the frame.
  private func plan(for value: SIMD2<Double>?) -> Plan {
    let geometry = self.setting.geometry
    let nodes = value.map { self.operation.nodes(for: $0, of: geometry) } ?? []
    var builder = PassBuilder(geometry: geometry, budget: PlanBudget())
    builder.append(nodes.map { .node($0, filter: self.setting.description.name) })
    return builder.finish(as: nil)
  }
}

/// A pass of pointwise operations, including colour matrices that depend on the frame.
///
/// The pass folds the operations again for every frame, and then costs as much as the same
/// operations with a fixed matrix.
struct AdaptivePointPass: Pass {
  let description: PassDescription
  private let operations: [PointOperation]
  private let passes: PointwisePasses
  /// The pass with identities as the matrices of stages. All passes share its properties.
  private let plain: any Pass

  init(
    _ description: PassDescription, _ operations: [PointOperation], _ passes: PointwisePasses
  ) {
    let summary = PointOperation.summaries(operations).joined(separator: ", then ")
    self.description = PassDescription(
      filters: description.filters, kind: description.kind,
      summary: summary + ", compiled for each frame")
    self.operations = operations
    self.passes = passes
    self.plain = passes.pass(
      description, PointOperation.resolving(operations) { _, _ in .identity },
      budget: PlanBudget())
  }

  var worksInPlace: Bool { self.plain.worksInPlace }

  func kernelNanoseconds(_ size: FrameSize) -> Double { self.plain.kernelNanoseconds(size) }

  func run(_ context: PassContext) async throws {
    let geometry = self.passes.geometry
    let resolved = PointOperation.resolving(self.operations) { operation, index in
      operation.matrix(
        for: context.scene?.drawing(of: index, as: AdaptiveDrawing.self)?.value, of: geometry)
    }
    try await self.passes.pass(self.description, resolved, budget: PlanBudget()).run(context)
  }
}

extension AdaptiveOperation {
  /// Of operations that are not colour matrices: the reach of ``NoiseReduction``.
  package func spread(in geometry: FrameGeometry) -> Double? {
    self.isColorMatrix ? 0 : 2 + ContentSpread.rounding
  }

  /// A pass for operations that are not colour matrices; the planner folds colour matrices.
  package func makePass(_ setting: PassSetting, index: Int) -> any Pass {
    AdaptivePass(setting, self, index: index)
  }
}

extension Plan {
  /// The drawings of the stages that need no stream, for a single picture; `nil` for a plan without
  /// such stages.
  func scene(ofPicture frame: Frame) -> FrameScene? {
    guard self.sceneStages.contains(where: { $0.request is any AdaptiveOperation }) else {
      return nil
    }
    let samples = SampleGrid(frame)
    return FrameScene(
      frameMap: .identity,
      drawings: self.sceneStages.map { stage in
        AdaptiveDrawing(value: (stage.request as? any AdaptiveOperation)?.measure(samples))
      })
  }
}
