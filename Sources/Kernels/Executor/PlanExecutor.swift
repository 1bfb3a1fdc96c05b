import Synchronization

/// Runs plans on frames, over row bands, on compute threads.
///
/// Any number of frames may be run at once; the more are in flight, the fewer bands each is split
/// into, because splitting shortens one frame and does not make more of them.
public final class PlanExecutor: Sendable {
  private let pool: BufferPool
  private let compute: ComputePool
  /// How each pass is split, where it does not depend on the frames in flight.
  private let fixedBands: BandRunner?
  private let framesInFlight = Atomic<Int>(0)

  /// - Parameters:
  ///   - pool: Where frames come from.
  ///   - compute: Where the work is done.
  public convenience init(pool: BufferPool, compute: ComputePool) {
    self.init(pool: pool, compute: compute, fixedBands: nil)
  }

  /// - Parameters:
  ///   - pool: Where frames come from.
  ///   - compute: Where the work is done.
  ///   - fixedBands: How each pass is split, however many frames are in flight.
  package init(pool: BufferPool, compute: ComputePool, fixedBands: BandRunner?) {
    self.pool = pool
    self.compute = compute
    self.fixedBands = fixedBands
  }

  /// Computes a plan's result, in a buffer of the pool.
  ///
  /// A plan that is the identity returns the frame itself. Cancellation is seen between passes.
  ///
  /// - Parameters:
  ///   - plan: A plan for the frame's geometry.
  ///   - frame: The input; unchanged.
  ///   - moment: Which frame of its stream it is.
  ///   - bands: Over how many threads a pass is spread at most; `nil`: by the frames in flight.
  ///   - observer: Stands around each pass, and may stop the frame by throwing.
  ///   - meter: Is told what the bands cost.
  /// - Returns: The result in aligned strides, with the input's orientation unless the plan turns it.
  /// - Throws: `CancellationError`, what the observer throws, or what a user's filter throws.
  /// - Precondition: The plan was made for `frame.geometry`, and not refused.
  @concurrent
  public func run(
    _ plan: Plan, on frame: Frame, at moment: FrameMoment = FrameMoment(),
    bands: Int? = nil, observer: some PassObserver = NoPassObserver(), meter: WorkMeter? = nil
  ) async throws -> Frame {
    precondition(frame.geometry == plan.input, "the plan is for \(plan.input)")
    precondition(plan.refusal == nil, "there is no plan")
    guard !plan.isIdentity else { return frame }
    let result = try await self.withBands(bands, meter) { bands in
      let run = PlanRun(plan: plan, moment: moment, pool: self.pool, bands: bands)
      return try await run(on: Raster(frame), into: nil, observer)
    }
    return result.frame(color: plan.output.color, orientation: frame.orientation)
  }

  /// Computes a plan's result into memory of the caller's choice, which may be the frame's own.
  ///
  /// The law: the samples that end up in the destination are those that ``run(_:on:at:observer:)``
  /// returns, byte for byte, whatever the destination's strides and wherever it lies; its padding is
  /// left alone.
  ///
  /// - If the destination lies apart from the frame, the last pass writes it directly.
  /// - If it is the frame's own memory, plane for plane, pointwise plans work in place; others read
  ///   the frame, go through buffers of the pool, and write the destination with their last pass, or
  ///   copy into it where that pass still reads the frame's neighbourhoods.
  /// - If it shares bytes with the frame in any other way, the result is made in a buffer of the pool
  ///   and copied.
  ///
  /// A plan that is the identity copies the frame, unless the destination is the frame. Cancellation
  /// is seen between passes.
  ///
  /// - Parameters:
  ///   - plan: A plan for the frame's geometry.
  ///   - frame: The input. Unchanged unless it shares memory with the destination; then it must not
  ///     be read any more, not even if this throws.
  ///   - destination: Where the result goes. What it says of colour and orientation does not matter.
  ///     Undefined if this throws.
  ///   - moment: Which frame of its stream it is.
  ///   - bands: Over how many threads a pass is spread at most; `nil`: by the frames in flight.
  ///   - observer: Stands around each pass, and may stop the frame by throwing.
  ///   - meter: Is told what the bands cost.
  /// - Returns: The destination as a frame, with the input's orientation unless the plan turns it.
  /// - Throws: `CancellationError`, what the observer throws, or what a user's filter throws.
  /// - Precondition: The plan was made for `frame.geometry`, and the destination has the format and
  ///   size of `plan.output`.
  @concurrent
  @discardableResult
  public func run(
    _ plan: Plan, on frame: Frame, into destination: consuming MutableFrame,
    at moment: FrameMoment = FrameMoment(), bands: Int? = nil,
    observer: some PassObserver = NoPassObserver(), meter: WorkMeter? = nil
  ) async throws -> Frame {
    precondition(frame.geometry == plan.input, "the plan is for \(plan.input)")
    precondition(plan.refusal == nil, "there is no plan")
    precondition(
      destination.layout.format == plan.output.format
        && destination.layout.size == plan.output.size, "the plan makes \(plan.output)")
    let target = Raster(destination)
    let result = try await self.withBands(bands, meter) { bands in
      let run = PlanRun(plan: plan, moment: moment, pool: self.pool, bands: bands)
      return try await run(on: Raster(frame), into: target, observer)
    }
    return result.frame(color: plan.output.color, orientation: frame.orientation)
  }

  /// Runs `body` on the compute threads, with its share of them.
  private func withBands(
    _ wanted: Int?, _ meter: WorkMeter?, _ body: @Sendable (BandRunner) async throws -> Raster
  ) async throws -> Raster {
    let inFlight = self.framesInFlight.add(1, ordering: .relaxed).newValue
    defer { self.framesInFlight.subtract(1, ordering: .relaxed) }
    var runner =
      self.fixedBands ?? BandRunner(maxBands: max(1, wanted ?? self.compute.threadCount / inFlight))
    runner.meter = meter
    return try await withTaskExecutorPreference(self.compute) { [runner] in
      try await body(runner)
    }
  }
}

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
