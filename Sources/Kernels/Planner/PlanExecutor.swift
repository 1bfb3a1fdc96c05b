import Synchronization

/// An executor of plans on frames: it divides passes into bands and runs them on compute threads.
///
/// Any number of frames may run at the same time. With more frames in flight, a pass has fewer
/// bands, because bands shorten one frame but do not increase throughput.
public final class PlanExecutor: Sendable {
  private let pool: BufferPool
  /// The threads that do the work; `nil` for the caller's.
  private let compute: ComputePool?
  /// The division of passes, if it does not depend on the frames in flight.
  private let fixedBands: BandRunner?
  private let framesInFlight = Atomic<Int>(0)

  /// Creates an executor.
  ///
  /// - Parameters:
  ///   - pool: The pool of frames' buffers.
  ///   - compute: The threads that do the work.
  public convenience init(pool: BufferPool, compute: ComputePool) {
    self.init(pool: pool, compute: compute, fixedBands: nil)
  }

  /// Creates an executor.
  ///
  /// - Parameters:
  ///   - pool: The pool of frames' buffers.
  ///   - compute: The threads that do the work; `nil` for the caller's.
  ///   - fixedBands: The division of passes; `nil` divides the threads among the frames in flight.
  package init(pool: BufferPool, compute: ComputePool?, fixedBands: BandRunner?) {
    self.pool = pool
    self.compute = compute
    self.fixedBands = fixedBands
  }

  /// Runs a plan on a frame. The result is in a buffer of the pool.
  ///
  /// An identity plan returns the frame itself. Cancellation is checked between passes.
  ///
  /// - Parameters:
  ///   - plan: A plan for the frame's geometry.
  ///   - frame: The input; unchanged.
  ///   - time: The frame's position in its stream.
  ///   - scene: The drawings of the plan's scene stages (`StreamScene`). Without a scene, stages
  ///     that protect hide the whole frame, stages that adapt to light measure this frame only, and
  ///     other scene stages don't change the frame.
  ///   - details: The values that texts show.
  ///   - bands: The maximum number of threads of a pass; `nil` divides the threads among the frames
  ///     in flight.
  ///   - observer: Encloses every pass, and may stop the frame by throwing.
  ///   - meter: Receives the time of the bands.
  /// - Returns: The result with aligned strides and the input's orientation.
  /// - Throws: `CancellationError`, or an error of the observer or of a custom filter.
  /// - Precondition: The plan was compiled for `frame.geometry`, and was not refused.
  @concurrent
  public func run(
    _ plan: Plan, on frame: Frame, at time: FrameTime = FrameTime(), scene: FrameScene? = nil,
    details: FrameDetails = FrameDetails(), bands: Int? = nil,
    observer: some PassObserver = NoPassObserver(), meter: WorkMeter? = nil
  ) async throws -> Frame {
    try await self.run(
      plan, on: frame, keepsForeignResult: false, at: time, scene: scene, details: details,
      bands: bands, observer: observer, meter: meter)
  }

  /// Runs a plan as ``run(_:on:at:scene:details:bands:observer:meter:)`` does.
  ///
  /// - Parameter keepsForeignResult: Whether the result of another process may stay in memory that it
  ///   can change (``ForeignMemory``).
  @concurrent
  package func run(
    _ plan: Plan, on frame: Frame, keepsForeignResult: Bool, at time: FrameTime,
    scene: FrameScene?, details: FrameDetails, bands: Int?, observer: some PassObserver,
    meter: WorkMeter?
  ) async throws -> Frame {
    precondition(frame.geometry == plan.input, "the plan is for \(plan.input)")
    precondition(plan.refusal == nil, "the plan was refused")
    guard !plan.isIdentity else { return frame }
    let result = try await self.withBands(bands, meter) { bands in
      let run = PlanRun(
        plan: plan, time: time, scene: scene ?? plan.scene(ofPicture: frame), details: details,
        pool: self.pool, bands: bands, keepsForeignResult: keepsForeignResult)
      return try await run(on: Raster(frame), into: nil, observer)
    }
    return result.frame(color: plan.output.color, orientation: frame.orientation)
  }

  /// Runs a plan on a frame and writes the result into the caller's memory, which may be the
  /// frame's own.
  ///
  /// The destination's samples equal the result of
  /// ``run(_:on:at:scene:details:bands:observer:meter:)``, whose other parameters it has, byte for
  /// byte, with any strides and position. Its padding is not changed.
  ///
  /// - If the destination doesn't share memory with the frame, the last pass writes it directly.
  /// - If it is the frame's memory, plane for plane, pointwise plans work in place. Other plans
  ///   read the frame, use buffers of the pool, and write the destination with their last pass; if
  ///   that pass reads the frame's neighbourhoods, the result is copied.
  /// - If it shares bytes with the frame in any other way, the result is computed in a buffer of
  ///   the pool and copied.
  ///
  /// An identity plan copies the frame, unless the destination is the frame. Cancellation is
  /// checked between passes.
  ///
  /// - Parameters:
  ///   - plan: A plan for the frame's geometry.
  ///   - frame: The input. Unchanged unless it shares memory with the destination; it must then not
  ///     be read afterwards, even if this call throws.
  ///   - destination: The memory of the result. Its colour description and orientation are ignored.
  ///     Undefined if this call throws.
  /// - Returns: The destination as a frame, with the input's orientation.
  /// - Throws: `CancellationError`, or an error of the observer or of a custom filter.
  /// - Precondition: The plan was compiled for `frame.geometry` and was not refused, and the
  ///   destination has the format and size of `plan.output`.
  @concurrent
  @discardableResult
  public func run(
    _ plan: Plan, on frame: Frame, into destination: consuming MutableFrame,
    at time: FrameTime = FrameTime(), scene: FrameScene? = nil,
    details: FrameDetails = FrameDetails(), bands: Int? = nil,
    observer: some PassObserver = NoPassObserver(), meter: WorkMeter? = nil
  ) async throws -> Frame {
    precondition(frame.geometry == plan.input, "the plan is for \(plan.input)")
    precondition(plan.refusal == nil, "the plan was refused")
    precondition(
      destination.layout.format == plan.output.format
        && destination.layout.size == plan.output.size,
      "the results of the plan are \(plan.output)")
    let target = Raster(destination)
    let result = try await self.withBands(bands, meter) { bands in
      let run = PlanRun(
        plan: plan, time: time, scene: scene ?? plan.scene(ofPicture: frame), details: details,
        pool: self.pool, bands: bands)
      return try await run(on: Raster(frame), into: target, observer)
    }
    return result.frame(color: plan.output.color, orientation: frame.orientation)
  }

  /// Runs a pass on byte samples of the caller.
  func run(
    _ pass: some Pass, from input: Raster, to output: Raster, _ bands: Int?,
    _ observer: some PassObserver, _ meter: WorkMeter?
  ) async throws {
    _ = try await self.withBands(bands, meter) { bands in
      try Task.checkCancellation()
      let context = PassContext(
        inputs: [input], output: output, time: FrameTime(), scene: nil, details: FrameDetails(),
        pool: self.pool, bands: bands)
      try await observer.pass(pass.description) { try await pass.run(context) }
      return output
    }
  }

  /// Runs `body` on the compute threads.
  ///
  /// - Parameter requested: The maximum number of bands of a pass; `nil` divides the threads among
  ///   the frames in flight.
  private func withBands(
    _ requested: Int?, _ meter: WorkMeter?, _ body: @Sendable (BandRunner) async throws -> Raster
  ) async throws -> Raster {
    let inFlight = self.framesInFlight.add(1, ordering: .relaxed).newValue
    defer { self.framesInFlight.subtract(1, ordering: .relaxed) }
    var runner =
      self.fixedBands
      ?? BandRunner(
        maxBands: max(1, requested ?? (self.compute?.threadCount ?? 1) / inFlight))
    runner.meter = meter
    guard let compute = self.compute else { return try await body(runner) }
    return try await withTaskExecutorPreference(compute) { [runner] in
      try await body(runner)
    }
  }
}

/// The run of a plan on one frame.
struct PlanRun: Sendable {
  let plan: Plan
  let time: FrameTime
  let scene: FrameScene?
  let details: FrameDetails
  /// The pool of pictures between passes.
  let pool: BufferPool
  let bands: BandRunner
  var keepsForeignResult = false

  /// Runs the passes, in order, on the task's preferred executor. `@concurrent` puts the first pass
  /// there too; a function that inherits its caller's isolation would start it on the caller's
  /// thread.
  ///
  /// - Parameters:
  ///   - input: The frame's samples.
  ///   - target: The memory of the result; `nil` for a buffer of the pool.
  ///   - observer: Encloses every pass.
  /// - Returns: The target, or the pool's buffer with the result.
  @concurrent
  func callAsFunction(
    on input: Raster, into target: Raster?, _ observer: some PassObserver
  ) async throws -> Raster {
    let relation = target?.relation(to: input) ?? .disjoint
    // A slot for the input, and a slot per pass for its result until the last reader has finished.
    var slots: [Raster?] = [input]
    var latest = input
    for (index, step) in self.plan.steps.enumerated() {
      try Task.checkCancellation()
      let inputs = step.inputs.compactMap { slots[$0] }
      if let pass = step.pass as? any RemotePass {
        let context = self.context(inputs, inputs[0], observer.deadline)
        let result = try await observer.pass(pass.description) {
          try await pass.result(
            context, step.layout,
            ownsInput: self.plan.finished(after: index).contains(step.inputs[0]))
        }
        latest = await self.secured(result, of: pass, index, hasTarget: target != nil)
      } else {
        latest =
          self.remoteInput(after: index) ?? self.target(of: index, target, relation)
          ?? self.shared(step, index, slots)
          ?? Raster(layout: step.layout, depth: step.depth, pool: self.pool)
        let context = self.context(inputs, latest, observer.deadline)
        try await observer.pass(step.pass.description) { try await step.pass.run(context) }
      }
      slots.append(latest)
      for slot in self.plan.finished(after: index) { slots[slot] = nil }
    }
    guard let target, target.relation(to: latest) != .same else { return latest }
    await self.copy(latest, to: target)
    return target
  }

  /// Returns the caller's memory if a pass may write its result there: the last pass, or a pass
  /// after which all others draw on its result.
  private func target(
    of index: Int, _ target: Raster?, _ relation: MemoryRelation
  ) -> Raster? {
    let steps = self.plan.steps
    guard let target, Self.mayWriteOver(relation, steps[index]) else { return nil }
    for later in steps.indices.dropFirst(index + 1) {
      guard steps[later].pass.drawsOnInput, steps[later].inputs == [later],
        self.plan.finished(after: later).contains(later),
        steps[later].depth == steps[index].depth,
        steps[later].layout == steps[index].layout
      else { return nil }
    }
    return target
  }

  /// Returns the memory that the next pass shares with another process, if only that pass reads the
  /// result of this one.
  ///
  /// The other process can read that memory at once. Passes that may copy their input and then draw
  /// on it, as covers do, therefore write elsewhere.
  private func remoteInput(after index: Int) -> Raster? {
    let (next, step) = (index + 1, self.plan.steps[index])
    guard step.depth == .eight, ![.composite, .frame].contains(step.pass.description.kind),
      self.isReadOnce(after: index), let pass = self.plan.steps[next].pass as? any RemotePass
    else { return nil }
    return pass.makeInput(step.layout, scene: self.scene)
  }

  /// Whether the next pass is the only one that reads the result of a pass.
  private func isReadOnce(after index: Int) -> Bool {
    let next = index + 1
    return next < self.plan.steps.count && self.plan.steps[next].inputs == [next]
      && self.plan.finished(after: next).contains(next)
  }

  /// Returns the result of another process in memory that it cannot change any more.
  ///
  /// Copies it, unless it is about to be copied to the target, or only one pass reads it that takes
  /// every pixel once: a change meanwhile then equals one before the result. Consecutive passes of
  /// processes hand on the memory.
  private func secured(
    _ result: Raster, of pass: any RemotePass, _ index: Int, hasTarget: Bool
  ) async -> Raster {
    let (next, steps) = (index + 1, self.plan.steps)
    if self.isReadOnce(after: index),
      steps[next].pass is any RemotePass || steps[next].pass.description.kind == .pointwise
    {
      return result
    }
    if next == steps.count, self.keepsForeignResult, result.foreignMemory?.isScarce == false {
      return result
    }
    pass.countCopy()
    if next == steps.count, hasTarget { return result }
    let copy = Raster(layout: steps[index].layout, depth: .eight, pool: self.pool)
    await self.copy(result, to: copy)
    return copy
  }

  /// Returns the memory of a pass's input if the pass draws on it and no other pass reads it. A
  /// picture that another process can change is never drawn on.
  private func shared(_ step: PlannedPass, _ index: Int, _ slots: [Raster?]) -> Raster? {
    guard step.pass.drawsOnInput, let slot = step.inputs.first, step.inputs.count == 1, slot > 0,
      !(self.plan.steps[slot - 1].pass is any RemotePass),
      self.plan.finished(after: index).contains(slot), let input = slots[slot],
      input.layout == step.layout, input.depth == step.depth
    else { return nil }
    return input
  }

  /// Whether a pass that writes the result may write the target, given its relation to the input.
  private static func mayWriteOver(_ relation: MemoryRelation, _ step: PlannedPass) -> Bool {
    switch relation {
    case .disjoint: true
    case .same: step.pass.worksInPlace || !step.inputs.contains(0)
    case .overlapping: !step.inputs.contains(0)
    }
  }

  private func copy(_ source: Raster, to target: Raster) async {
    var source = source
    let shapes = PlaneShape.planes(source.format, source.size)
    if target.relation(to: source) == .overlapping {
      // A direct copy would overwrite rows that are not yet copied.
      let separate = Raster(layout: source.layout, depth: .eight, pool: self.pool)
      for shape in shapes { await PlaneCopy(shape: shape).run(self.context([source], separate)) }
      source = separate
    }
    for shape in shapes { await PlaneCopy(shape: shape).run(self.context([source], target)) }
  }

  private func context(
    _ inputs: [Raster], _ output: Raster, _ deadline: Duration? = nil
  ) -> PassContext {
    PassContext(
      inputs: inputs, output: output, time: self.time, scene: self.scene,
      details: self.details, pool: self.pool, bands: self.bands, deadline: deadline)
  }
}
