import SidelightKernels

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
