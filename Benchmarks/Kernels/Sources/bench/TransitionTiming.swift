import SidelightKernels

/// The time of a frame in a transition, next to the two plans' times.
struct TransitionTiming {
  let pictures: Pictures
  let catalogue: FilterCatalogue
  let pool: BufferPool

  private static let rounds = 60
  private static let cases: [(String, PixelFormat, PipelineTransition.Style)] = [
    ("fade, I420", .i420, .fade), ("wipe, I420", .i420, .wipe()),
    ("dissolve, I420", .i420, .dissolve()), ("fade, BGRA", .bgra8, .fade),
    ("wipe, BGRA", .bgra8, .wipe()), ("dissolve, BGRA", .bgra8, .dissolve()),
  ]

  /// Returns, per case, the median milliseconds of processor time of the earlier plan, the later
  /// plan, the mix, and the whole frame, separated by semicolons.
  func report(on compute: ComputePool) async throws -> String {
    var lines: [String] = []
    for (title, format, style) in Self.cases {
      let times = try await withTaskExecutorPreference(compute) {
        try await self.times(format, PictureMix(style: style, progress: 0.4), compute)
      }
      lines.append("\(title)=" + times.map { $0.fourDecimals }.joined(separator: " "))
    }
    return "ok " + lines.joined(separator: ";")
  }

  @concurrent
  private func times(
    _ format: PixelFormat, _ mix: PictureMix, _ compute: ComputePool
  ) async throws -> [Double] {
    let executor = PlanExecutor(pool: self.pool, compute: compute)
    let earlier = try Workload(format, "gaussianBlur").plan(self.catalogue)
    let later = try Workload(format, "sepiaTone").plan(self.catalogue)
    let frame = try self.pictures.frames(later.input, count: 1, pool: self.pool)[0]
    var times: [[Double]] = [[], [], [], []]
    for _ in 0 ..< Self.rounds {
      let starts = Timing.now(threads: 1)
      let first = try await executor.run(earlier, on: frame)
      times[0].append(Timing.now(threads: 1) - starts)

      let second = try self.pool.makeFrame(later.output)
      let (layout, color) = (second.layout, second.color)
      let between = Timing.now(threads: 1)
      let result = try await executor.run(later, on: frame, into: second)
      times[1].append(Timing.now(threads: 1) - between)

      let target = MutableFrame(layout: layout, color: color, buffer: result.buffer)
      let mixing = Timing.now(threads: 1)
      try await executor.mix(first, into: target, by: mix)
      times[2].append(Timing.now(threads: 1) - mixing)

      let whole = Timing.now(threads: 1)
      let shown = try await executor.run(
        later, on: frame, into: try self.pool.makeFrame(later.output))
      let other = try await executor.run(earlier, on: frame)
      try await executor.mix(
        other, into: MutableFrame(layout: shown.layout, color: color, buffer: shown.buffer),
        by: mix)
      times[3].append(Timing.now(threads: 1) - whole)
    }
    return times.map { $0.sorted()[$0.count / 2] }
  }
}
