package import SidelightKernels

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

/// A pass that draws the image of a ``StickerStage`` on faces.
///
/// Pixels outside the image keep their bytes. Without a scene the pass doesn't change the frame.
struct StickerPass: Pass {
  /// The estimated time of a covered pixel in nanoseconds.
  private static let pixelNanoseconds = 10.0

  let setting: PassSetting
  /// The number of the stage among the plan's scene stages.
  let index: Int

  var description: PassDescription { self.setting.description }

  var worksInPlace: Bool { true }

  func run(_ context: PassContext) async {
    let output = context.output
    if output.relation(to: context.inputs[0]) != .same {
      for shape in PlaneShape.planes(output.format, output.size) {
        await PlaneCopy(shape: shape).run(context)
      }
    }
    guard let scene = context.scene,
      let drawing = scene.drawing(of: self.index, as: StickerDrawing.self)
    else { return }
    let blend = StickerBlend(self.setting.geometry)
    for item in drawing.items where item.transform.isValid {
      let map = AffineMap(item.transform).followed(by: scene.frameMap)
      guard
        let sticker = PlacedSticker(
          drawing.pyramid, map, opacity: item.opacity, in: output.size)
      else { continue }
      // Rows that share chroma belong to one band.
      let unit = output.format.isYUV ? 2 : 1
      let top = sticker.rows.lowerBound / unit * unit
      let middle = sticker.columns((sticker.rows.lowerBound + sticker.rows.upperBound) / 2)
      await context.bands.run(
        rows: sticker.rows.upperBound - top, alignment: unit,
        nanoseconds: Double(sticker.rows.count * middle.count) * Self.pixelNanoseconds
      ) { band in
        blend.run(top + band.lowerBound ..< top + band.upperBound, sticker, output.view)
      }
    }
  }
}

/// A point of a face that a sticker is attached to.
package enum FaceAnchor: String, Sendable, Hashable, CaseIterable {
  /// The centre of the face.
  case face
  /// The point between the eyes.
  case eyes
  /// The middle of the forehead, below the hair.
  case forehead
  /// The middle of the mouth.
  case mouth

  /// The position in the canonical box of ``DetectedFace``, 0 to 1 from its left and top.
  ///
  /// Eyes and mouth are the points that define the box. The forehead is as far above the eyes as
  /// the eyes are above the tip of the nose, half the way to the mouth.
  package var position: (u: Double, v: Double) {
    switch self {
    case .face: (0.5, 0.5)
    case .eyes: (0.49, 0.37)
    case .forehead: (0.49, 0.16)
    case .mouth: (0.5, 0.79)
    }
  }
}

/// The placement of a picture on a face.
///
/// With the face width `s`, the centre of the picture is `anchor + s offset`, and its width is
/// `s scale`. With ``rotates``, offset and picture turn with the face: `anchor + s R(roll) offset`.
/// The anchor always moves with the face.
package struct StickerPlacement: Sendable, Hashable {
  /// The point of the face.
  package var anchor: FaceAnchor
  /// The distance of the picture's centre from the anchor, in face widths: x to the right, y down.
  package var offset: PicturePoint
  /// The width of the picture in face widths. Greater than 0.
  package var scale: Double
  /// Whether the picture turns with the face.
  package var rotates: Bool

  package init(
    anchor: FaceAnchor, offset: PicturePoint = PicturePoint(x: 0, y: 0), scale: Double = 1,
    rotates: Bool = true
  ) {
    self.anchor = anchor
    self.offset = offset
    self.scale = scale
    self.rotates = rotates
  }

  /// Returns the movement from the pixels of the picture to the pixels of the frame.
  ///
  /// - Parameters:
  ///   - width: The picture's width. Greater than 0.
  ///   - height: The picture's height.
  ///   - face: The face, in the frame's pixels.
  package func transform(width: Double, height: Double, on face: FaceBox) -> SimilarityTransform {
    let (u, v) = self.anchor.position
    let roll = self.rotates ? face.roll : 0
    let center = face.point(u: u, v: v) + face.size * self.offset.turned(by: roll)
    return SimilarityTransform(
      scale: face.size * self.scale / width, rotation: roll,
      from: PicturePoint(x: width / 2, y: height / 2), to: center)
  }
}
