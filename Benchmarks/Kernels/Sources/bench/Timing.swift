import SidelightKernels

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Runs one plan over a ring of frames.
struct Timing {
  let plan: Plan
  /// One frame is "hot"; more frames than fit into the caches are "cold".
  let frames: [Frame]
  let pool: BufferPool

  /// Returns the milliseconds per frame, within a budget of milliseconds; at least two frames.
  func run(on compute: ComputePool, budget: Double) async throws -> [Double] {
    let end = ContinuousClock.now + .microseconds(Int(budget * 1000))
    return try await self.run(on: compute) { $0 < 2 || (ContinuousClock.now < end && $0 < 4000) }
  }

  /// Returns the milliseconds per frame, for a number of frames.
  func run(on compute: ComputePool, frames: Int) async throws -> [Double] {
    try await self.run(on: compute) { $0 < frames }
  }

  /// Runs on a thread of the pool, like a session's worker, which excludes thread wake-ups from the
  /// measurement.
  private func run(
    on compute: ComputePool, while goesOn: @escaping @Sendable (Int) -> Bool
  ) async throws -> [Double] {
    try await withTaskExecutorPreference(compute) { try await self.loop(compute, goesOn) }
  }

  @concurrent
  private func loop(
    _ compute: ComputePool, _ goesOn: @Sendable (Int) -> Bool
  ) async throws -> [Double] {
    let executor = PlanExecutor(pool: self.pool, compute: compute)
    // Results are kept for a round: a cold run also writes to cold memory.
    var results: [Frame?] = []
    for frame in self.frames { results.append(try await executor.run(self.plan, on: frame)) }
    var times: [Double] = []
    while goesOn(times.count) {
      let slot = times.count % self.frames.count
      results[slot] = nil
      let start = Self.now(threads: compute.threadCount)
      results[slot] = try await executor.run(
        self.plan, on: self.frames[slot], at: FrameTime(index: UInt64(times.count)))
      times.append(Self.now(threads: compute.threadCount) - start)
    }
    return times
  }

  /// Returns the clock in milliseconds. For one thread it is the process's processor time, which
  /// excludes other work on the machine.
  static func now(threads: Int) -> Double {
    var time = timespec()
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
  }
}

extension Double {
  /// The number with four decimals.
  var fourDecimals: String {
    let parts = Int((self * 10000).rounded())
    let fraction = String(parts % 10000)
    return "\(parts / 10000)." + String(repeating: "0", count: 4 - fraction.count) + fraction
  }
}
