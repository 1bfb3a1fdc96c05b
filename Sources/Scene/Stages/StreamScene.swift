public import SidelightKernels

/// The knowledge of a pipeline's scene stages about one stream: the faces in it, and the states of
/// the stages.
///
/// It is stepped once per frame, in order, before the plan runs on the frame:
///
/// ```swift
/// let scene = try await stream.step(frame, at: time, for: plan)
/// let result = try await executor.run(plan, on: frame, at: time, scene: scene)
/// for job in stream.takeJobs() { stream.finish(await job.run()) }
/// ```
///
/// Jobs may also run at the same time as later frames, which don't wait for them.
public struct StreamScene: Sendable {
  /// A stage failed on a frame.
  public struct Failure: Error {
    /// The stage's filter.
    public let filter: String
    /// The reason.
    public let cause: any Error
  }

  /// Slow work, such as a search of the whole frame for faces.
  public struct Job: Sendable {
    fileprivate let id: JobID
    fileprivate let work: SceneJob

    /// The name for traces, such as `faceSearch`.
    public var name: String { self.work.name }
    /// Whether the work is custom code, which may not return.
    package var isCustom: Bool { self.work.isCustom }
    /// Whether a stage that protects needs the result.
    package var protects: Bool { self.work.protects }
    /// The description for traces.
    package var description: PassDescription { self.work.description }

    /// Does the work. Its result goes to ``StreamScene/finish(_:)``.
    public func run() async -> JobResult {
      do {
        return JobResult(id: self.id, value: .success(try await self.work.run()))
      } catch {
        return self.failed(error)
      }
    }

    /// Returns the result of a job that could not run.
    package func failed(_ error: any Error) -> JobResult {
      JobResult(id: self.id, value: .failure(error))
    }
  }

  /// The result of a job.
  public struct JobResult: Sendable {
    fileprivate let id: JobID
    fileprivate let value: Result<any Sendable, any Error>
  }

  /// The owner of a job.
  fileprivate enum JobID: Sendable, Hashable {
    case faces
    case stage(Int)
  }

  /// A report of a stage.
  public struct Report: Sendable {
    /// The ID of the stage, or its path.
    public let stage: String
    /// The filter's name.
    public let filter: String
    /// The values by name. The filter's description lists the names.
    public let values: [String: AnalysisValue]
  }

  /// A stage of the latest plan.
  private struct Entry {
    let number: Int
    let stage: String
    let filter: String
    var value: any SceneStage
    var isJobRunning = false
  }

  private let searching: FaceScene.Searching
  private var faces: FaceScene?
  private var entries: [Entry] = []
  /// The stages of the earlier plan of a transition; `nil` outside of transitions.
  private var earlierEntries: [Entry]?
  private var lastNumber = 0

  /// Creates the scene of a stream before its first frame.
  public init() {
    self.init(searching: .background)
  }

  /// - Parameter searching: Where searches of the whole picture run.
  package init(searching: FaceScene.Searching) {
    self.searching = searching
  }

  /// Computes the drawings of a plan's stages on the next frame.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - time: Its position in the stream.
  ///   - plan: The plan. It may differ from the last frame's plan: stages of the same filters keep
  ///     their state.
  ///   - isReduced: Whether the session is short of time.
  ///   - observer: Encloses the work on the frame: `faceTrack`, and the steps of stages that have a
  ///     name, such as `matte`.
  /// - Throws: ``Failure``, or an error of the observer.
  public mutating func step(
    _ frame: Frame, at time: FrameTime, for plan: Plan, isReduced: Bool = false,
    observer: some PassObserver = NoPassObserver()
  ) async throws -> FrameScene {
    try await self.step(
      frame, at: time, for: plan, from: nil, isReduced: isReduced, observer: observer
    ).later
  }

  /// Computes the drawings of two plans' stages on the next frame, in a transition from one to the
  /// other. When it begins, stages of the later plan continue from copies of the states of the
  /// earlier plan's stages, to keep a sticker in both at rest. Otherwise as
  /// ``step(_:at:for:isReduced:observer:)``, which ends the transition.
  ///
  /// - Parameters:
  ///   - plan: The later plan.
  ///   - earlier: The earlier plan; `nil` outside of transitions.
  ///   - captureNanoseconds: The frame's capture time; 0 if it is not known.
  /// - Returns: The drawings of both plans; `earlier` is `nil` outside of transitions.
  /// - Precondition: Both plans allow mixing (``Plan/allowsMixing``).
  package mutating func step(
    _ frame: Frame, at time: FrameTime, for plan: Plan, from earlier: Plan?,
    captureNanoseconds: Int64 = 0, isReduced: Bool = false,
    observer: some PassObserver = NoPassObserver()
  ) async throws -> (later: FrameScene, earlier: FrameScene?) {
    let sceneTime = SceneTime(
      index: time.index, time: time.arrival, captureNanoseconds: captureNanoseconds)
    self.adopt(plan.sceneStages, from: earlier?.sceneStages)
    let stages = plan.sceneStages + (earlier?.sceneStages ?? [])
    let picture =
      stages.contains(where: \.request.readsPicture) ? UprightPicture(reducing: frame) : nil
    var report: FaceReport?
    if let picture, let description = plan.faceTracking ?? earlier?.faceTracking,
      let request = FaceRequest(joining: stages)
    {
      report = try await observer.pass(description) {
        await self.stepFaces(picture, at: sceneTime, request, isReduced: isReduced)
      }
    }
    let view = SceneView(
      of: frame, time: sceneTime, picture: picture, faces: report,
      searchError: self.faces?.searchError,
      isReduced: isReduced)
    let count = self.entries.count
    var all = self.entries + (self.earlierEntries ?? [])
    defer {
      self.entries = Array(all[..<count])
      if self.earlierEntries != nil { self.earlierEntries = Array(all[count...]) }
    }
    var drawings: [any Sendable] = []
    for index in all.indices {
      drawings.append(try await Self.step(&all[index], of: stages[index], view, observer))
    }
    if all.contains(where: \.value.needsFaceSearch) { self.faces?.requestSearch() }
    func scene(_ drawings: ArraySlice<any Sendable>) -> FrameScene {
      FrameScene(frameMap: picture?.frameMap ?? .identity, drawings: Array(drawings))
    }
    return (scene(drawings[..<count]), earlier.map { _ in scene(drawings[count...]) })
  }

  /// Returns the slow work that is due after a step.
  public mutating func takeJobs() -> [Job] {
    var jobs: [Job] = []
    if let search = self.faces?.takeSearch() {
      jobs.append(Job(id: .faces, work: search))
    }
    for index in self.entries.indices where !self.entries[index].isJobRunning {
      guard let job = self.entries[index].value.takeJob() else { continue }
      self.entries[index].isJobRunning = true
      jobs.append(Job(id: .stage(self.entries[index].number), work: job))
    }
    return jobs
  }

  /// Receives the result of a job. It applies from the next step on.
  public mutating func finish(_ result: JobResult) {
    switch result.id {
    case .faces: self.faces?.finishSearch(result.value)
    case .stage(let number):
      guard let index = self.entries.firstIndex(where: { $0.number == number }) else { return }
      self.entries[index].isJobRunning = false
      self.entries[index].value.finish(result.value)
    }
  }

  /// Returns the stages' reports since the last call.
  public mutating func takeReports() -> [Report] {
    self.entries.indices.compactMap { index in
      self.entries[index].value.takeReport().map {
        Report(stage: self.entries[index].stage, filter: self.entries[index].filter, values: $0)
      }
    }
  }

  // MARK: - Still images

  /// The steps for a still image: enough to search it twice at every angle, and for stages that
  /// appear gradually to be fully visible.
  private static let stillSteps = 2 * FaceTracker.searchAngles.count + 2

  /// Returns the drawings of a plan's stages on a still picture.
  ///
  /// - Throws: ``Failure``.
  public static func still(
    _ frame: Frame, at time: FrameTime, for plan: Plan,
    observer: some PassObserver = NoPassObserver()
  ) async throws -> FrameScene {
    var scene = StreamScene(searching: .immediate)
    var result = FrameScene(frameMap: .identity, drawings: [])
    for step in 0 ..< self.stillSteps {
      try Task.checkCancellation()
      let position = FrameTime(
        index: time.index &+ UInt64(step), arrival: .milliseconds(200 * step))
      scene.faces?.requestSearch()
      result = try await scene.step(frame, at: position, for: plan, observer: observer)
      for job in scene.takeJobs() { scene.finish(await job.run()) }
    }
    return result
  }

  // MARK: - Parts

  private mutating func stepFaces(
    _ picture: UprightPicture, at time: SceneTime, _ request: FaceRequest, isReduced: Bool
  ) async -> FaceReport {
    var faces: FaceScene
    if let known = self.faces {
      faces = known
      faces.configure(request.configuration)
    } else {
      faces = FaceScene(
        tools: request.tools, configuration: request.configuration, searching: self.searching)
    }
    // A protecting stage covers more while searches miss faces: they are always thorough.
    let effort: FaceSearch.Effort =
      isReduced && !request.configuration.protects ? .quick : .thorough
    let report = await faces.step(picture.luma, color: picture.color, at: time, effort: effort)
    self.faces = faces
    return report
  }

  private static func step(
    _ entry: inout Entry, of planned: PlannedSceneStage, _ view: SceneView,
    _ observer: some PassObserver
  ) async throws -> any Sendable {
    guard let description = planned.stepDescription else {
      do {
        return try await entry.value.step(view)
      } catch {
        throw Failure(filter: planned.filter, cause: error)
      }
    }
    return try await observer.pass(description) { try await entry.value.step(view) }
  }

  /// Takes over the stages of a plan, and in a transition the earlier plan's stages.
  private mutating func adopt(_ planned: [PlannedSceneStage], from earlier: [PlannedSceneStage]?) {
    guard let earlier else {
      self.earlierEntries = nil
      return self.entries = self.adopted(planned, from: self.entries)
    }
    guard let known = self.earlierEntries else {
      let known = self.adopted(earlier, from: self.entries)
      self.earlierEntries = known
      // The later stages have other numbers, to return a job's result to the right stage.
      return self.entries = self.adopted(planned, from: known).map { entry in
        self.lastNumber += 1
        return Entry(
          number: self.lastNumber, stage: entry.stage, filter: entry.filter, value: entry.value)
      }
    }
    self.earlierEntries = self.adopted(earlier, from: known)
    self.entries = self.adopted(planned, from: self.entries)
  }

  /// Continues the states of stages, preferring the same filter, and creates missing states.
  private mutating func adopted(
    _ planned: [PlannedSceneStage], from entries: [Entry]
  ) -> [Entry] {
    var known = entries
    return planned.map { stage in
      let (same, others) = (
        known.indices.filter { known[$0].filter == stage.filter },
        known.indices.filter { known[$0].filter != stage.filter }
      )
      for index in same + others {
        var value = known[index].value
        guard value.adopt(stage.request) else { continue }
        let entry = known.remove(at: index)
        return Entry(
          number: entry.number, stage: stage.stage, filter: stage.filter, value: value,
          isJobRunning: entry.isJobRunning)
      }
      self.lastNumber += 1
      return Entry(
        number: self.lastNumber, stage: stage.stage, filter: stage.filter,
        value: stage.makeStage())
    }
  }
}

extension FaceRequest {
  /// Joins the requests of stages; `nil` if they don't need faces.
  package init?(joining stages: [PlannedSceneStage]) {
    let requests = stages.compactMap(\.faces)
    guard var joined = requests.first else { return nil }
    for request in requests.dropFirst() {
      let other = request.configuration
      joined.configuration.protects = joined.configuration.protects || other.protects
      joined.configuration.maxFaces = max(joined.configuration.maxFaces, other.maxFaces)
      joined.configuration.minSize = min(joined.configuration.minSize, other.minSize)
    }
    self = joined
  }
}
