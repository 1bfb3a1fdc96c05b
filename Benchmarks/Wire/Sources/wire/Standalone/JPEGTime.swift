import BenchmarkSupport
import SidelightClient
import SidelightKernelLanguage

/// Decoding, a pipeline and encoding in sequence, without a transport.
struct JPEGTime {
  private let options: LoadOptions
  private let pool = BufferPool(maxIdleBytes: 1 << 30)

  init(_ options: LoadOptions) {
    var options = options
    options.geometry.color.range = .full
    self.options = options
  }

  /// Measures, and prints the figures.
  func run() async throws {
    let compute = ComputePool()
    try Output.finish(
      try await withTaskExecutorPreference(compute) { try await self.figures(compute) })
  }

  @concurrent
  private func figures(_ compute: ComputePool) async throws -> StandaloneFigures {
    let geometry = self.options.geometry
    let quality = self.options.jpegQuality ?? 80
    let codec = JPEGCodec(geometry.size)
    let executor = PlanExecutor(pool: self.pool, compute: compute)
    let plan = try FilterCatalogue.builtIn.resolve(self.options.work.pipeline).plan(for: geometry)
    let file = try codec.encode(
      try Picture.make(geometry, pool: self.pool), quality: quality)
    var times: (decode: [Duration], work: [Duration], encode: [Duration]) = ([], [], [])
    let clock = ContinuousClock()
    let start = clock.now + self.options.warmUp
    let end = start + self.options.duration
    while clock.now < end {
      let begin = clock.now
      let frame = try codec.decode(file, into: try self.pool.makeFrame(geometry))
      let decoded = clock.now
      let result = try await executor.run(
        plan, on: frame, at: FrameTime(index: UInt64(times.work.count)))
      let worked = clock.now
      _ = try codec.encode(result, quality: quality)
      guard begin >= start else { continue }
      times.decode.append(decoded - begin)
      times.work.append(worked - decoded)
      times.encode.append(clock.now - worked)
    }
    return StandaloneFigures(
      decodeUs: times.decode.percentile(50).microseconds,
      workUs: times.work.percentile(50).microseconds,
      encodeUs: times.encode.percentile(50).microseconds, frames: times.work.count)
  }
}
