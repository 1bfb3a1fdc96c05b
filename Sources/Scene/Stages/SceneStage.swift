/// A filter with an effect that depends on the contents of frames, such as faces.
///
/// Faces are found in frames as they arrive. A pipeline is therefore refused if a filter that moves
/// pixels comes before a scene filter (``SceneRules``).
package protocol SceneFilter: Filter {
  /// Whether the filter, with its arguments, depends on the scene.
  var usesScene: Bool { get }
  /// The reason why this program cannot run the filter with its arguments, as a clause: "this server
  /// is built without Vision"; `nil` if the filter can run. A pipeline with such a stage does not resolve.
  var unavailability: String? { get }
  /// Whether the filter hides a part of the frame. A frame that it was not applied to is never
  /// sent, and stages may not show the hidden part again.
  var protects: Bool { get }
}

extension SceneFilter {
  package var usesScene: Bool { true }
  package var unavailability: String? { nil }
  package var protects: Bool { false }
}

/// The knowledge that a stage needs of frames, and its state in a session.
package protocol SceneRequest: Sendable {
  /// The faces that the stage needs to know; `nil` if it doesn't need faces.
  var faces: FaceRequest? { get }
  /// The name of the stage's step in traces, such as `matte`; `nil` if the step is too short to be
  /// traced.
  var stepName: String? { get }
  /// The step in one line, for ``PassDescription/summary``.
  var stepSummary: String { get }
  /// Whether the step runs custom code, which may not return.
  var isCustom: Bool { get }
  /// Whether the step reads the reduced picture. `true` by default.
  var readsPicture: Bool { get }
  /// Whether a stage's state may be copied: it doesn't have jobs, or objects that it shares with a
  /// copy. `false` by default.
  var isCopyable: Bool { get }
  /// Returns the state of a session's first frame.
  func makeStage() -> any SceneStage
}

/// The work of a scene filter: a state per session, which computes the drawing on a frame, and a
/// pass that draws it.
package protocol SceneOperation: SceneRequest {
  /// The operation in one line, for ``PassDescription/summary``.
  var summary: String { get }
  /// Returns the maximum distance, in pixels, from which a pixel gets content of the frame, if the
  /// operation takes it equally from opposite sides; `nil`, the default, if it may move content.
  func spread(in geometry: FrameGeometry) -> Double?
  /// Creates the pass. It reads and writes frames of the setting's geometry, and takes the drawing
  /// from ``PassContext/scene`` (``FrameScene/drawing(of:as:)``). Without a scene, a protecting
  /// operation hides the whole frame, and other operations don't change it.
  ///
  /// - Parameters:
  ///   - setting: The geometry of the frames.
  ///   - index: The number of the stage among the plan's scene stages.
  func makePass(_ setting: PassSetting, index: Int) -> any Pass
}

extension SceneRequest {
  package var stepName: String? { nil }
  package var isCopyable: Bool { false }
  package var readsPicture: Bool { true }
  package var isCustom: Bool { self.faces?.tools.isCustom ?? false }
}

extension SceneOperation {
  package var stepSummary: String { self.summary }
  package func spread(in geometry: FrameGeometry) -> Double? { nil }
}

/// An analysis that can read the scene. In a plan with stages that need faces anyway it is a scene
/// stage without a pass, and shares the faces with these stages.
package protocol SceneAnalysis: FrameAnalysis {
  /// The analysis as a scene stage, which reports its results.
  var request: any SceneRequest { get }
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
  mutating func step(_ view: SceneView) throws -> any Sendable

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

/// The faces that an operation needs to know in every frame.
package struct FaceRequest: Sendable {
  /// The settings of the tracker. The settings of several stages are joined: the maximum number of
  /// faces, the minimum size, and protection if one of them protects.
  package var configuration: FaceTracker.Configuration
  /// The source of finders and optical flow.
  package var tools: FaceTools

  package init(_ configuration: FaceTracker.Configuration, tools: FaceTools) {
    self.configuration = configuration
    self.tools = tools
  }
}

/// The tools with which faces are found and followed.
package struct FaceTools: Sendable {
  /// Creates a finder. A finder is used by one thread at a time.
  package let makeFinder: @Sendable () -> any FaceFinder
  /// Creates a finder for stages that protect. It misses fewer faces, and may take longer.
  package let makeProtectingFinder: @Sendable () -> any FaceFinder
  /// Creates the optical flow of a session.
  package let makePointTracker: @Sendable () -> any PointTracker
  /// Whether the finder is a custom one, which may not return.
  package let isCustom: Bool

  /// - Parameter protectingFinder: `nil` is the same as `finder`.
  package init(
    isCustom: Bool = false, finder: @escaping @Sendable () -> any FaceFinder,
    protectingFinder: (@Sendable () -> any FaceFinder)? = nil,
    points: @escaping @Sendable () -> any PointTracker
  ) {
    self.isCustom = isCustom
    self.makeFinder = finder
    self.makeProtectingFinder = protectingFinder ?? finder
    self.makePointTracker = points
  }

  /// Creates a finder for stages that protect, or for others.
  func finder(protects: Bool) -> any FaceFinder {
    protects ? self.makeProtectingFinder() : self.makeFinder()
  }
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
  package let run: @Sendable () throws -> any Sendable

  package init(
    _ name: String, isCustom: Bool = false, protects: Bool = false,
    _ run: @escaping @Sendable () throws -> any Sendable
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

  /// Returns the colours of the frame on a small grid.
  package func samples() -> SampleGrid { SampleGrid(self.frame) }
}

/// The drawings of a plan's scene stages for one frame.
public struct FrameScene: Sendable {
  /// The map from the pixels of the reduced picture to the pixels of the frame.
  package let frameMap: AffineMap
  private let drawings: [any Sendable]

  package init(frameMap: AffineMap, drawings: [any Sendable]) {
    self.frameMap = frameMap
    self.drawings = drawings
  }

  /// Returns the value of a stage's step; `nil` if it has another type or doesn't exist.
  package func drawing<Drawing: Sendable>(of index: Int, as type: Drawing.Type) -> Drawing? {
    self.drawings.indices.contains(index) ? self.drawings[index] as? Drawing : nil
  }
}

/// A scene stage of a plan.
package struct PlannedSceneStage: Sendable {
  /// The id of the stage, or its path.
  package let stage: String
  /// The filter's name.
  package let filter: String
  package let request: any SceneRequest
  /// Whether the filter hides a part of the frame.
  package var protects = false
}
