/// The picture with a margin round it that holds nothing: transparent, and black.
struct MarginOperation: NeighborhoodOperation {
  /// Pixels at the left; even, so that chroma stays in its place.
  let left: Int
  /// Pixels at the top; even.
  let top: Int
  /// Pixels at the right.
  let right: Int
  /// Pixels at the bottom.
  let bottom: Int

  init(left: Int, top: Int, right: Int, bottom: Int) {
    self.left = left
    self.top = top
    self.right = right
    self.bottom = bottom
  }

  /// The same margin at both sides, and the same at top and bottom.
  init(left: Int, top: Int) {
    self.init(left: left, top: top, right: left, bottom: top)
  }

  var words: String {
    self.left == self.right && self.top == self.bottom
      ? "a margin of \(self.left) and \(self.top) pixels"
      : "a margin of \(self.left) to \(self.right) and \(self.top) to \(self.bottom) pixels"
  }

  func output(for geometry: FrameGeometry) -> FrameGeometry {
    var result = geometry
    result.size = FrameSize(
      width: geometry.size.width + self.left + self.right,
      height: geometry.size.height + self.top + self.bottom)
    return result
  }

  func makePass(_ setting: PassSetting) -> any Pass {
    MarginPass(
      description: setting.description, operation: self,
      empty: EmptyColor.samples(setting.geometry))
  }

  func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    let size = self.output(for: geometry).size
    return zip(planes, PlaneShape.planes(geometry.format, size)).map { plane, shape in
      let (left, top) = (
        Int(Double(self.left) * plane.scale), Int(Double(self.top) * plane.scale)
      )
      let result = ReferencePlane(
        width: shape.width, height: shape.height, step: plane.step, scale: plane.scale,
        samples: Array(repeating: 0, count: shape.samples * shape.height))
      return result.map { x, y, channel in
        // A chroma sample that an odd edge shares belongs to the picture.
        let isInside =
          (left ..< left + plane.width).contains(x) && (top ..< top + plane.height).contains(y)
        return isInside ? plane[x - left, y - top, channel] : plane.empty(channel: channel)
      }
    }
  }
}
