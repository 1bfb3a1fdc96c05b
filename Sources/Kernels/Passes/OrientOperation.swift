/// Pixels turned by quarters and mirrored. Planes are turned sample by sample, so that nothing is
/// lost: where the frame is odd, 4:2:0 chroma moves by half a pixel.
struct OrientOperation: NeighborhoodOperation {
  /// What is done: first mirrored, then turned clockwise.
  let orientation: Orientation

  var kind: PassDescription.Kind { .warp }
  var mixesPixels: Bool { false }

  var words: String {
    [
      self.orientation.isMirrored ? "left and right exchanged" : nil,
      self.orientation.quarterTurns > 0
        ? "turned clockwise by \(self.orientation.quarterTurns * 90) degrees" : nil,
    ].compactMap(\.self).joined(separator: ", then ")
  }

  func output(for geometry: FrameGeometry) -> FrameGeometry {
    guard !self.orientation.quarterTurns.isMultiple(of: 2) else { return geometry }
    return FrameGeometry(
      format: geometry.format,
      size: FrameSize(width: geometry.size.height, height: geometry.size.width),
      color: geometry.color)
  }

  func makePass(_ setting: PassSetting) -> any Pass {
    OrientPass(
      description: setting.description, operation: self,
      keepsFourthChannel: setting.keepsFourthChannel
        && self.output(for: setting.geometry).size == setting.geometry.size)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    var result = plane
    if self.orientation.isMirrored {
      result = plane.map { x, y, channel in plane[plane.width - 1 - x, y, channel] }
    }
    for _ in 0 ..< self.orientation.quarterTurns {
      let before = result
      let empty = ReferencePlane(
        width: before.height, height: before.width, step: before.step, scale: before.scale,
        samples: before.samples)
      // What was on the left comes to the top.
      result = empty.map { x, y, channel in before[y, before.height - 1 - x, channel] }
    }
    return result
  }

  /// The place in a plane of the given size from which a place of the result comes.
  func source(x: Int, y: Int, width: Int, height: Int) -> (x: Int, y: Int) {
    let turned =
      switch self.orientation.quarterTurns {
      case 1: (x: y, y: height - 1 - x)
      case 2: (x: width - 1 - x, y: height - 1 - y)
      case 3: (x: width - 1 - y, y: x)
      default: (x: x, y: y)
      }
    return self.orientation.isMirrored ? (width - 1 - turned.x, turned.y) : turned
  }
}
