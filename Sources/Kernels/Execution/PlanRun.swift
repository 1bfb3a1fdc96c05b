/// One frame's way through a plan.
struct PlanRun: Sendable {
  let plan: Plan
  let moment: FrameMoment
  /// Where the pictures between passes come from.
  let pool: BufferPool
  let bands: BandRunner

  /// Runs the passes, in order, on the task's preferred executor from the first on: a function that
  /// inherits its caller's place would start the first pass on the caller's thread.
  ///
  /// - Parameters:
  ///   - input: The frame's samples.
  ///   - target: Where the result goes; a buffer of the pool if `nil`.
  ///   - observer: Stands around each pass.
  /// - Returns: The target, or what was made instead of it.
  @concurrent
  func callAsFunction(
    on input: Raster, into target: Raster?, _ observer: some PassObserver
  ) async throws -> Raster {
    let relation = target?.relation(to: input) ?? .apart
    // One slot for the input, and one for each pass's result until its last reader is done.
    var slots: [Raster?] = [input]
    var latest = input
    for (index, step) in self.plan.steps.enumerated() {
      try Task.checkCancellation()
      let isLast = index == self.plan.steps.count - 1
      let direct = isLast && Self.mayWriteOver(relation, step) ? target : nil
      latest = direct ?? Raster(layout: step.layout, depth: step.depth, pool: self.pool)
      let context = self.context(step.inputs.compactMap { slots[$0] }, latest)
      try await observer.pass(step.pass.description) { try await step.pass.run(context) }
      slots.append(latest)
      for slot in self.plan.finished(after: index) { slots[slot] = nil }
    }
    guard let target, target.relation(to: latest) != .same else { return latest }
    await self.copy(latest, to: target)
    return target
  }

  /// Whether the last pass may write the target, which lies to the input as told.
  private static func mayWriteOver(_ relation: MemoryRelation, _ step: PlannedPass) -> Bool {
    switch relation {
    case .apart: true
    case .same: step.pass.worksInPlace || !step.inputs.contains(0)
    case .entangled: !step.inputs.contains(0)
    }
  }

  private func copy(_ source: Raster, to target: Raster) async {
    var source = source
    let shapes = PlaneShape.planes(source.format, source.size)
    if target.relation(to: source) == .entangled {
      // Rows would overwrite others before those are copied.
      let apart = Raster(layout: source.layout, depth: .eight, pool: self.pool)
      for shape in shapes { await PlaneCopy(shape: shape).run(self.context([source], apart)) }
      source = apart
    }
    for shape in shapes { await PlaneCopy(shape: shape).run(self.context([source], target)) }
  }

  private func context(_ inputs: [Raster], _ output: Raster) -> PassContext {
    PassContext(
      inputs: inputs, output: output, moment: self.moment, pool: self.pool, bands: self.bands)
  }
}
