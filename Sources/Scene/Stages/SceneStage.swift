package import SidelightKernels

/// A request whose stage has its own state in every session. The state of an ``AdaptiveOperation``
/// is an ``AdaptiveStage``.
package protocol StagedRequest: SceneRequest {
  /// The faces that the stage needs to know; `nil` if it doesn't need faces.
  var faces: FaceRequest? { get }
  /// Returns the state of a session's first frame.
  func makeStage() -> any SceneStage
}

extension StagedRequest {
  package var faceUse: FaceUse {
    guard let faces = self.faces else { return .unused }
    return faces.configuration.protects ? .protected : .followed
  }
  package var isCustom: Bool { self.faces?.tools.isCustom ?? false }
}

extension PlannedSceneStage {
  /// The faces that the stage needs to know; `nil` if it doesn't need faces.
  var faces: FaceRequest? { (self.request as? any StagedRequest)?.faces }

  /// Returns the state of a session's first frame.
  package func makeStage() -> any SceneStage {
    switch self.request {
    case let request as any StagedRequest: request.makeStage()
    case let operation as any AdaptiveOperation: AdaptiveStage(operation)
    default: preconditionFailure("\(self.filter) has neither a state nor a measurement")
    }
  }
}

/// The state of a scene filter in one session.
///
/// A session calls it for one frame at a time, in order.
package protocol SceneStage: Sendable {
  /// Takes over the parameters of another call of the same filter, which lets a slider move without
  /// losing the state.
  ///
  /// - Returns: Whether the state can be continued. If not, a new one is made.
  mutating func adopt(_ request: any SceneRequest) -> Bool

  /// Computes the drawing on the next frame.
  ///
  /// - Returns: A value for the stage's pass.
  /// - Throws: An error that makes the stage fail on this frame.
  mutating func step(_ view: SceneView) async throws -> any Sendable

  /// Whether the whole picture should be searched for faces as soon as possible.
  var needsFaceSearch: Bool { get }

  /// Returns slow work that is due; `nil` if no work is due. It runs off the frame's path, and its
  /// result goes to ``finish(_:)``. At most one job of a stage runs at a time.
  mutating func takeJob() -> SceneJob?

  /// Receives the result of the last job, before the step of a later frame.
  mutating func finish(_ result: Result<any Sendable, any Error>)

  /// Returns values that are reported to the client, like an analysis's values, such as the
  /// progress of learning a background; `nil` without new values.
  mutating func takeReport() -> [String: AnalysisValue]?
}

extension SceneStage {
  package var needsFaceSearch: Bool { false }
  package mutating func takeJob() -> SceneJob? { nil }
  package mutating func finish(_ result: Result<any Sendable, any Error>) {}
  package mutating func takeReport() -> [String: AnalysisValue]? { nil }
}

/// Slow work of a scene, which runs off the frame's path.
package struct SceneJob: Sendable {
  /// The name in traces, such as `faceSearch`.
  package let name: String
  /// Whether the work is custom code, which may not return.
  package let isCustom: Bool
  /// Whether a stage that protects needs the result. Other work lets frames go first.
  package let protects: Bool
  /// The work.
  package let run: @Sendable () async throws -> any Sendable

  package init(
    _ name: String, isCustom: Bool = false, protects: Bool = false,
    _ run: @escaping @Sendable () async throws -> any Sendable
  ) {
    self.name = name
    self.isCustom = isCustom
    self.protects = protects
    self.run = run
  }

  /// The description for traces.
  package var description: PassDescription {
    PassDescription(name: self.name, filters: [], kind: .scene, summary: "off the frame's path")
  }
}

/// The frame of a scene's step, or of a job, for mattes and finders that wait for another process.
package struct SceneWork: Sendable {
  /// The work of the present task; `nil` if it is not known.
  @TaskLocal package static var current: SceneWork?

  /// The frame's position in its stream.
  package let time: FrameTime
  /// The values of the frame.
  package let details: FrameDetails
  /// The time at which the frame has no use any more; `nil` disables the limit.
  package let deadline: Duration?
  /// Gives the threads to other work during a wait.
  package let meter: WorkMeter?

  package init(
    time: FrameTime, details: FrameDetails, deadline: Duration?, meter: WorkMeter?
  ) {
    self.time = time
    self.details = details
    self.deadline = deadline
    self.meter = meter
  }
}

/// The view that a scene's stages have of a frame.
package struct SceneView: Sendable {
  /// The frame's position in its session.
  package let time: SceneTime
  private let frame: Frame
  private let reduced: UprightPicture?
  /// The faces, in the pixels of the reduced picture; `nil` if the plan's stages don't request
  /// faces.
  package let faces: FaceReport?
  /// The error of the latest search of the whole picture; `nil` if it succeeded.
  package let searchError: (any Error)?
  /// Whether the session is short of time and should leave out optional work.
  package let isReduced: Bool

  /// - Parameter picture: The frame, reduced and upright; `nil` if the stages don't read it.
  package init(
    of frame: Frame, time: SceneTime, picture: UprightPicture?, faces: FaceReport?,
    searchError: (any Error)? = nil, isReduced: Bool = false
  ) {
    self.frame = frame
    self.time = time
    self.reduced = picture
    self.faces = faces
    self.searchError = searchError
    self.isReduced = isReduced
  }

  /// The frame, reduced and upright.
  ///
  /// - Precondition: The stage's request reads it (``SceneRequest/readsPicture``).
  package var picture: UprightPicture {
    guard let reduced else { preconditionFailure("no stage reads the reduced picture") }
    return reduced
  }

  /// The frame's orientation.
  package var orientation: Orientation { self.frame.orientation }

  /// Returns the colours of the frame on a small grid.
  package func samples() -> SampleGrid { SampleGrid(self.frame) }
}
