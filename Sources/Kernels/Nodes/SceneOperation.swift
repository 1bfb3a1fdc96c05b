/// The knowledge that a stage needs of frames, as far as plans depend on it. The state of the stage
/// in a session, and the work on the scene, are not part of plans.
package protocol SceneRequest: Sendable {
  /// The use of the frame's faces. Unused by default.
  var faceUse: FaceUse { get }
  /// The name of the stage's step in traces, such as `matte`; `nil` if the step is too short to be
  /// traced.
  var stepName: String? { get }
  /// The step in one line, for ``PassDescription/summary``.
  var stepSummary: String { get }
  /// Whether the step runs custom code, which may not return. `false` by default.
  var isCustom: Bool { get }
  /// Whether the step reads the reduced picture. `true` by default.
  var readsPicture: Bool { get }
  /// Whether a stage's state may be copied: it doesn't have jobs, or objects that it shares with a
  /// copy. `false` by default.
  var isCopyable: Bool { get }
}

/// The use of faces by a scene stage.
package enum FaceUse: Sendable, Hashable {
  case unused
  /// Faces are found and followed.
  case followed
  /// Faces are found and followed, with searches that miss fewer faces, to hide them.
  case protected
}

/// The work of a scene filter: a state per session, which computes the drawing on a frame, and a
/// pass that draws it.
package protocol SceneOperation: SceneRequest {
  /// The operation in one line, for ``PassDescription/summary``.
  var summary: String { get }
  /// Returns the maximum distance, in pixels, from which a pixel gets content of the frame, if the
  /// operation takes it equally from opposite sides; `nil`, the default, if it may move content.
  func spread(in geometry: FrameGeometry) -> Double?
  /// The format of the pass's input and output; `nil`, the default, for the frame's format.
  var format: PixelFormat? { get }
  /// Returns the size of the output for the size of the input: by default the same.
  func output(for size: FrameSize) -> FrameSize
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
  package var faceUse: FaceUse { .unused }
  package var isCustom: Bool { false }
}

extension SceneOperation {
  package var stepSummary: String { self.summary }
  package func spread(in geometry: FrameGeometry) -> Double? { nil }
  package var format: PixelFormat? { nil }
  package func output(for size: FrameSize) -> FrameSize { size }
}

/// An analysis that can read the scene. In a plan with stages that need faces anyway it is a scene
/// stage without a pass, and shares the faces with these stages.
package protocol SceneAnalysis: FrameAnalysis {
  /// The analysis as a scene stage, which reports its results.
  var request: any SceneRequest { get }
}
