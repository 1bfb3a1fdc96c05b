import Synchronization

/// Runs plans on frames, over row bands, on compute threads.
///
/// Any number of frames may be run at once; the more are in flight, the fewer bands each is split
/// into, because splitting shortens one frame and does not make more of them.
public final class PlanExecutor: Sendable {
  private let pool: BufferPool
  private let compute: ComputePool
  private let framesInFlight = Atomic<Int>(0)

  /// - Parameters:
  ///   - pool: Where frames come from.
  ///   - compute: Where the work is done.
  public init(pool: BufferPool, compute: ComputePool) {
    self.pool = pool
    self.compute = compute
  }

  /// Computes a plan's result.
  ///
  /// A plan that is the identity returns the frame itself. Cancellation is seen between passes.
  ///
  /// - Parameters:
  ///   - plan: A plan for the frame's geometry.
  ///   - frame: The input; unchanged.
  ///   - moment: Which frame of its stream it is.
  ///   - bands: Over how many threads a pass is spread at most; `nil`: by the frames in flight.
  ///   - observer: Stands around each pass, and may stop the frame by throwing.
  /// - Returns: The result in aligned strides, with the input's orientation unless the plan turns it.
  /// - Throws: `CancellationError`, what the observer throws, or what a user's filter throws.
  /// - Precondition: The plan was made for `frame.geometry`.
  @concurrent
  public func run(
    _ plan: Plan, on frame: Frame, at moment: FrameMoment = FrameMoment(),
    bands: Int? = nil, observer: some PassObserver = NoPassObserver()
  ) async throws -> Frame {
    precondition(frame.geometry == plan.input, "the plan is for \(plan.input)")
    guard !plan.isIdentity else { return frame }
    let inFlight = self.framesInFlight.add(1, ordering: .relaxed).newValue
    defer { self.framesInFlight.subtract(1, ordering: .relaxed) }
    let bands = BandRunner(maxBands: max(1, bands ?? self.compute.threadCount / inFlight))
    return try await withTaskExecutorPreference(self.compute) {
      try await self.compute(plan, frame, moment, observer, bands)
    }
  }

  private func compute(
    _ plan: Plan, _ frame: Frame, _ moment: FrameMoment, _ observer: some PassObserver,
    _ bands: BandRunner
  ) async throws -> Frame {
    // One slot for the input, and one for each pass's result until its last reader is done.
    var slots: [Raster?] = [Raster(frame)]
    for (index, step) in plan.steps.enumerated() {
      try Task.checkCancellation()
      let context = PassContext(
        inputs: step.inputs.compactMap { slots[$0] },
        output: Raster(layout: step.layout, depth: step.depth, pool: self.pool),
        moment: moment, pool: self.pool, bands: bands)
      try await observer.pass(step.pass.description) { try await step.pass.run(context) }
      slots.append(context.output)
      for slot in plan.finished(after: index) { slots[slot] = nil }
    }
    guard let result = slots[plan.steps.count] else { return frame }
    return result.frame(color: plan.output.color, orientation: frame.orientation)
  }
}
