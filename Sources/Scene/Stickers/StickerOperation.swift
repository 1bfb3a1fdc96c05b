import SidelightKernels

/// An image that is drawn on faces.
struct StickerOperation: SceneOperation, StagedRequest {
  let pyramid: ImagePyramid
  let placement: StickerPlacement
  let choice: FaceChoice
  /// More than 0, at most 1.
  let opacity: Double
  let fade: Duration
  let tools: FaceTools

  var isCopyable: Bool { true }

  var summary: String { "an image at the \(self.placement.anchor.rawValue) of faces" }

  var faces: FaceRequest? { FaceRequest(FaceTracker.Configuration(), tools: self.tools) }

  func makeStage() -> any SceneStage { StickerStage(self) }

  func spread(in geometry: FrameGeometry) -> Double? { 0 }

  func makePass(_ setting: PassSetting, index: Int) -> any Pass {
    StickerPass(setting: setting, index: index)
  }
}

/// The faces that carry an image in a session, and its opacity on them.
struct StickerStage: SceneStage {
  private var operation: StickerOperation
  private var selection: FaceSelection
  private var fade: FaceFade

  init(_ operation: StickerOperation) {
    self.operation = operation
    self.selection = FaceSelection(operation.choice)
    self.fade = FaceFade(fade: operation.fade)
  }

  mutating func adopt(_ request: any SceneRequest) -> Bool {
    guard let operation = request as? StickerOperation else { return false }
    // The faces of the previous choice fade out as if they had left.
    if operation.choice != self.operation.choice {
      self.selection = FaceSelection(operation.choice)
    }
    self.fade.fade = operation.fade
    self.operation = operation
    return true
  }

  mutating func step(_ view: SceneView) -> any Sendable {
    let size = self.operation.pyramid.size
    let items = self.fade.add(
      self.selection.select(view.faces?.faces ?? []), at: view.time.time)
    return StickerDrawing(
      pyramid: self.operation.pyramid,
      items: items.map { item in
        StickerDrawing.Item(
          transform: self.operation.placement.transform(
            width: Double(size.width), height: Double(size.height), on: item.box),
          opacity: item.opacity * self.operation.opacity)
      })
  }
}

/// The images that are drawn on one frame.
struct StickerDrawing: Sendable {
  /// The image on one face.
  struct Item: Sendable, Hashable {
    /// The map from the pixels of the image to the pixels of the reduced picture.
    let transform: SimilarityTransform
    /// More than 0, at most 1.
    let opacity: Double
  }

  let pyramid: ImagePyramid
  /// In the order in which they are drawn.
  let items: [Item]
}
