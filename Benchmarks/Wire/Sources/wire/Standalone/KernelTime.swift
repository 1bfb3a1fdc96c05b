import BenchmarkSupport
import SidelightClient
import SidelightKernelLanguage

/// A pipeline on frames in memory: the work of a session without the transport.
struct KernelTime {
  /// As many buffers as a session has in flight. 4K frames exceed every cache anyway.
  private static let ring = 4

  private let options: LoadOptions
  private let plan: Plan
  private let frames: [Frame]
  private let pool = BufferPool(maxIdleBytes: 1 << 30)

  init(_ options: LoadOptions) throws {
    self.options = options
    self.plan = try FilterCatalogue.builtIn.resolve(options.work.pipeline)
      .plan(for: options.geometry)
    let pool = self.pool
    self.frames = try (0 ..< Self.ring).map { _ in
      try Picture.make(options.geometry, pool: pool)
    }
  }

  /// Measures, and prints the figures.
  func run() async throws {
    let compute = ComputePool()
    let times = try await withTaskExecutorPreference(compute) { try await self.times(compute) }
    try Output.finish(
      StandaloneFigures(workUs: times.percentile(50).microseconds, frames: times.count))
  }

  /// Measures on a thread of the pool, like the worker of a session.
  @concurrent
  private func times(_ compute: ComputePool) async throws -> [Duration] {
    let executor = PlanExecutor(pool: self.pool, compute: compute)
    var results = [Frame?](repeating: nil, count: Self.ring)
    var times: [Duration] = []
    let clock = ContinuousClock()
    let start = clock.now + self.options.warmUp
    let end = start + self.options.duration
    var index = 0
    while clock.now < end {
      let slot = index % Self.ring
      results[slot] = nil
      let begin = clock.now
      results[slot] = try await executor.run(
        self.plan, on: self.frames[slot], at: FrameTime(index: UInt64(index)))
      if begin >= start { times.append(clock.now - begin) }
      index += 1
    }
    return times
  }
}
