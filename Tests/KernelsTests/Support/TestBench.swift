import SidelightKernelLanguage
import SidelightKernels
import SidelightReference

/// Runs pipelines of the built-in catalogue on frames.
struct TestBench {
  let pool = BufferPool()
  let compute: ComputePool
  let executor: PlanExecutor
  var catalogue = FilterCatalogue.builtIn

  init(threads: Int = 2) {
    self.compute = ComputePool(threadCount: threads)
    self.executor = PlanExecutor(pool: self.pool, compute: self.compute)
  }

  func run(
    _ pipeline: Pipeline, on frame: Frame, index: UInt64 = 0
  ) async throws -> Frame {
    let plan = try self.catalogue.resolve(pipeline).plan(for: frame.geometry)
    return try await self.executor.run(plan, on: frame, at: FrameTime(index: index))
  }

  /// Returns the pipeline's result, computed naively.
  func reference(_ pipeline: Pipeline, on frame: Frame, index: UInt64 = 0) throws -> [[UInt8]] {
    ReferenceInterpreter(time: FrameTime(index: index))
      .apply(try self.catalogue.resolve(pipeline), to: ReferencePicture(frame))
      .encoded()
  }
}
