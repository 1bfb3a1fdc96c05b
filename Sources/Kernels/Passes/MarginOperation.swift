/// The picture with a margin all round that holds nothing: transparent, and black.
struct MarginOperation: NeighborhoodOperation {
  /// Pixels at the left and at the right; even, so that chroma stays in its place.
  let left: Int
  /// Pixels at the top and at the bottom; even.
  let top: Int

  var words: String { "a margin of \(self.left) and \(self.top) pixels" }

  func output(for geometry: FrameGeometry) -> FrameGeometry {
    var result = geometry
    result.size = FrameSize(
      width: geometry.size.width + 2 * self.left, height: geometry.size.height + 2 * self.top)
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
