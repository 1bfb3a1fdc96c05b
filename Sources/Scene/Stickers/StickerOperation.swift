import CKernels
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

/// An image at its place in one frame.
struct PlacedSticker: Sendable {
  /// The reduction of the image that is drawn.
  let raster: Raster
  /// The map from the pixels of the frame to the pixels of the raster.
  let map: AffineMap
  /// The rows of the frame that the image may cover.
  let rows: Range<Int>
  /// The factor of the image, in 1/32768.
  let opacity: Int32
  private let width: Int

  /// Places an image.
  ///
  /// - Parameters:
  ///   - pyramid: The image.
  ///   - map: The map from the pixels of the image to the pixels of the frame.
  ///   - opacity: The factor of the image, 0 to 1.
  ///   - size: The size of the frame.
  /// - Returns: `nil` if the image doesn't cover pixels.
  init?(_ pyramid: ImagePyramid, _ map: AffineMap, opacity: Double, in size: FrameSize) {
    guard let step = map.inverse?.stretch else { return nil }
    let level = pyramid.level(step: step)
    let scaling = AffineMap(a: level.factor, b: 0, c: 0, d: level.factor, tx: 0, ty: 0)
    let forward = scaling.followed(by: map)
    guard let inverse = forward.inverse else { return nil }
    self.raster = level.raster
    self.map = inverse
    self.width = size.width
    self.opacity = Int32((opacity * 32768).rounded())
    // Half a pixel beyond the edges, where the image fades out.
    let (right, bottom) = (
      Double(level.raster.size.width) + 0.5, Double(level.raster.size.height) + 0.5
    )
    let corners = [(-0.5, -0.5), (right, -0.5), (-0.5, bottom), (right, bottom)]
    let edges = corners.map { forward($0.0, $0.1).y }
    let low = max((edges.min() ?? 0).rounded(.down), 0)
    let high = min((edges.max() ?? 0).rounded(.up), Double(size.height))
    guard low < high, self.opacity > 0 else { return nil }
    self.rows = Int(low) ..< Int(high)
  }

  /// Returns the pixels of a row of the frame that the image may cover; may be empty.
  func columns(_ y: Int) -> Range<Int> {
    // The position in the raster is start + x slope. Where it is between the bounds of both axes,
    // pixels are covered.
    let start = self.map(0.5, Double(y) + 0.5)
    var (low, high) = (0.0, Double(self.width))
    for (position, slope, length) in [
      (start.x, self.map.a, self.raster.size.width), (start.y, self.map.b, self.raster.size.height),
    ] {
      let (lower, upper) = (-0.5 - position, Double(length) + 0.5 - position)
      guard abs(slope) > 1e-9 else {
        if lower >= 0 || upper <= 0 { return 0 ..< 0 }
        continue
      }
      low = max(low, min(lower / slope, upper / slope).rounded(.up))
      high = min(high, max(lower / slope, upper / slope).rounded(.down) + 1)
    }
    return low < high ? Int(low) ..< Int(high) : 0 ..< 0
  }
}
