import SidelightKernels
import SidelightScene
import SidelightWire
import Synchronization

/// The drawings of the scene stages of a frame's plans, or `nil` for a missing plan.
typealias SceneDrawings = (later: FrameScene?, earlier: FrameScene?)

/// The scene of a session: the faces in its frames and the state of its scene stages.
///
/// The worker steps it before every frame. Slow work, such as searches of whole pictures, runs in
/// jobs, in turns of the scheduler that leave a thread to frames (``FrameScheduler/TurnKind``); its
/// results apply to the next step.
final class SessionScene: Sendable {
  /// The scene is in use by a frame whose custom filters have not returned.
  struct Busy: Error, CustomStringConvertible {
    let description = "an earlier frame of the session is still being filtered"
  }

  private struct State {
    /// `nil` while a frame uses it.
    var scene: StreamScene? = StreamScene()
    /// The results that wait for the next step.
    var results: [StreamScene.JobResult] = []
  }

  /// The deadline assumed by the scheduler for slow work, from the frame's arrival.
  private static let jobBudget = Duration.milliseconds(500)

  private let jobs: SessionJobs
  private let state = Mutex(State())

  init(_ jobs: SessionJobs) {
    self.jobs = jobs
  }

  /// Decides the drawings of a plan's scene stages on a frame, including the earlier plan's stages
  /// in a transition.
  ///
  /// - Parameters:
  ///   - earlier: The plan that a transition leads from, if any.
  ///   - isReduced: Whether the session is short of time.
  ///   - observer: Encloses the work on the frame.
  ///   - jobObserver: Encloses the slow work.
  /// - Throws: ``Busy``, `StreamScene.Failure`, or an error of the observer.
  func step(
    _ frame: Frame, at time: FrameTime, for plan: Plan, from earlier: Plan?,
    details: FrameDetails, isReduced: Bool,
    observer: some PassObserver, jobs jobObserver: FramePassObserver
  ) async throws -> (scene: SceneDrawings, reports: [StreamScene.Report]) {
    let taken = self.state.withLock { state -> StreamScene? in
      guard var scene = state.scene.take() else { return nil }
      for result in state.results { scene.finish(result) }
      state.results = []
      return scene
    }
    guard var scene = taken else { throw Busy() }
    do {
      let drawn = try await scene.step(
        frame, at: time, for: plan, from: earlier,
        captureNanoseconds: details.captureNanoseconds, isReduced: isReduced, observer: observer)
      let reports = scene.takeReports()
      let jobs = scene.takeJobs()
      self.put(back: scene)
      for job in jobs {
        self.start(job, deadline: time.arrival + Self.jobBudget, jobObserver)
      }
      return ((drawn.later, drawn.earlier), reports)
    } catch {
      self.put(back: scene)
      throw error
    }
  }

  private func put(back scene: StreamScene) {
    self.state.withLock { $0.scene = scene }
  }

  private func start(
    _ job: StreamScene.Job, deadline: Duration, _ observer: FramePassObserver
  ) {
    let work = SceneWork.current
    self.jobs.start(
      in: SessionJobs.Turn(
        deadline: deadline, isCustom: job.isCustom, kind: job.protects ? .frame : .job)
    ) { meter in
      let work = work.map {
        SceneWork(time: $0.time, details: $0.details, deadline: nil, meter: meter)
      }
      return try await SceneWork.$current.withValue(work) {
        try await observer.pass(job.description) { await job.run() }
      }
    } completion: { result in
      self.state.withLock { state in
        switch result {
        case .success(let result): state.results.append(result)
        case .failure(let error): state.results.append(job.failed(error))
        }
      }
    }
  }
}
