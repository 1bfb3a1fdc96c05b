import SidelightKernels

/// Runs one plan over a ring of frames.
struct Timing {
  let plan: Plan
  /// One frame is "hot"; as many as do not fit the caches are "cold".
  let frames: [Frame]
  let pool: BufferPool

  /// Milliseconds of the median frame.
  ///
  /// From a thread of the pool, as a session's lane runs: to be woken there is not what is measured.
  func run(on compute: ComputePool) async throws -> Double {
    try await withTaskExecutorPreference(compute) { try await self.loop(compute) }
  }

  @concurrent
  private func loop(_ compute: ComputePool) async throws -> Double {
    let executor = PlanExecutor(pool: self.pool, compute: compute)
    // Results are kept for a round, so that a cold run writes to cold memory too.
    var results: [Frame?] = Array(repeating: nil, count: self.frames.count)
    var times: [Double] = []
    for index in 0 ..< 66 {
      let slot = index % self.frames.count
      results[slot] = nil
      let start = ContinuousClock.now
      results[slot] = try await executor.run(
        self.plan, on: self.frames[slot], at: FrameMoment(index: UInt64(index)))
      let elapsed = ContinuousClock.now - start
      if index >= 5 { times.append(Double(elapsed.components.attoseconds) / 1e15) }
    }
    return times.sorted()[times.count / 2]
  }
}
