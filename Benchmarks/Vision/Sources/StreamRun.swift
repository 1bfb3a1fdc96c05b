import SidelightKernels
import SidelightVision

/// Filters the frames of a file sequentially, as a session does, and measures them.
struct StreamRun {
  /// The times in milliseconds, with one entry per frame.
  struct Figures: Encodable {
    /// The whole frame without jobs: the scene's step and the passes.
    var frame: [Double] = []
    /// The scene's step.
    var step: [Double] = []
    /// The steps and passes that have a name.
    var parts: [String: [Double]] = [:]
    /// The looks at known faces, all of a frame; only with `--time-finder`.
    var looks: [Double] = []
    /// The jobs, which run off the frame's path, by name: the frame that started a job, and its
    /// time.
    var jobs: [String: [[Double]]] = [:]
    /// The names of the passes.
    var passes: [String] = []
    /// The reported reasons for covering frames whole, by frame; empty without a reason.
    var wholeFrame: [String] = []
  }

  private let request: Request
  private let setup: Setup
  private let executor: PlanExecutor

  init(_ request: Request, _ setup: Setup, _ compute: ComputePool) {
    self.request = request
    self.setup = setup
    self.executor = PlanExecutor(pool: setup.pool, compute: compute)
  }

  /// Runs on a thread of the pool, like a session's worker.
  @concurrent
  func figures() async throws -> Figures {
    let geometry = self.request.geometry
    let plan = try self.setup.catalogue.resolve(self.request.work.pipeline).plan(for: geometry)
    let input = try RawVideo(reading: self.request.input, geometry)
    let output = try self.request.output.map { try RawVideo(writing: $0, plan.output) }
    let observer = PassTimes()
    var stream = StreamScene()
    var figures = Figures()
    figures.passes = plan.passes.map(\.name)
    var results: [(due: Duration, result: StreamScene.JobResult)] = []
    for index in 0 ..< self.request.frameCount {
      let frame = try input.next(self.setup.pool)
      let time = FrameTime(index: UInt64(index), arrival: self.request.interval * index)
      for entry in results where entry.due <= time.arrival { stream.finish(entry.result) }
      results.removeAll { $0.due <= time.arrival }

      let start = Stopwatch.now()
      let scene = try await stream.step(frame, at: time, for: plan, observer: observer)
      let middle = Stopwatch.now()
      var reason = figures.wholeFrame.last ?? ""
      for report in stream.takeReports() {
        if case .text(let word)? = report.values["wholeFrame"] { reason = word }
      }
      figures.wholeFrame.append(reason)
      let result = try await self.executor.run(
        plan, on: frame, at: time, scene: scene, observer: observer)
      let end = Stopwatch.now()

      figures.frame.append(end - start)
      figures.step.append(middle - start)
      figures.looks.append(self.setup.finderTimes.takeLooks().reduce(0, +))
      let parts = observer.take()
      for name in Set(parts.keys).union(figures.parts.keys) {
        let known = figures.parts[name] ?? Array(repeating: 0, count: index)
        figures.parts[name] = known + [parts[name] ?? 0]
      }
      output?.append(result)
      for job in stream.takeJobs() {
        let start = Stopwatch.now()
        results.append((time.arrival + self.request.jobTime, await job.run()))
        figures.jobs[job.name, default: []].append([Double(index), Stopwatch.now() - start])
      }
    }
    return figures
  }
}
