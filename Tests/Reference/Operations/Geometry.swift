package import SidelightKernels

extension MarginOperation: ReferenceOperation {
  package func reference(
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
        // A chroma sample at an odd edge belongs to the picture.
        let isInside =
          (left ..< left + plane.width).contains(x) && (top ..< top + plane.height).contains(y)
        return isInside ? plane[x - left, y - top, channel] : plane.empty(channel: channel)
      }
    }
  }
}

extension ResampleOperation: ReferenceOperation {
  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
    let scale = plane.scale
    // A chroma sample covers two pixels, the last one of an odd row one.
    func count(_ pixels: Int) -> Int { Int((Double(pixels) * scale).rounded(.up)) }
    let (width, height) = (count(self.size.width), count(self.size.height))
    let empty = ReferencePlane(
      width: width, height: height, step: plane.step, scale: scale,
      samples: Array(repeating: 0, count: width * height * plane.step))
    return empty.map { x, y, channel in
      Self.mean(self.origin.y * scale + Double(y) * self.step.y, self.step.y) { row in
        Self.mean(self.origin.x * scale + Double(x) * self.step.x, self.step.x) { column in
          plane[column, row, channel]
        }
      }
    }
  }

  /// The value at the middle of an interval between samples, or the mean over an interval that is
  /// longer than one.
  private static func mean(
    _ low: Double, _ length: Double, _ sample: (Int) -> Double
  ) -> Double {
    if length <= 1 {
      let position = low + length / 2 - 0.5
      let left = position.rounded(.down)
      let fraction = position - left
      return sample(Int(left)) * (1 - fraction) + sample(Int(left) + 1) * fraction
    }
    var sum = 0.0
    for index in Int(low.rounded(.down)) ..< Int((low + length).rounded(.up)) {
      let covered = min(Double(index) + 1, low + length) - max(Double(index), low)
      sum += sample(index) * covered / length
    }
    return sum
  }
}

extension OrientOperation: ReferenceOperation {
  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
    var result = plane
    if self.orientation.isMirrored {
      result = plane.map { x, y, channel in plane[plane.width - 1 - x, y, channel] }
    }
    for _ in 0 ..< self.orientation.quarterTurns {
      let before = result
      let empty = ReferencePlane(
        width: before.height, height: before.width, step: before.step, scale: before.scale,
        samples: before.samples)
      // The left column becomes the top row.
      result = empty.map { x, y, channel in before[y, before.height - 1 - x, channel] }
    }
    return result
  }
}

extension AffineOperation: ReferenceOperation {
  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
    guard let inverse = self.inverse else {
      // A singular map shows a clamped picture as one pixel everywhere.
      return plane.map { _, _, channel in
        self.clamps ? plane[0, 0, channel] : plane.empty(channel: channel)
      }
    }
    func sample(_ x: Int, _ y: Int, _ channel: Int) -> Double {
      let isInside = (0 ..< plane.width).contains(x) && (0 ..< plane.height).contains(y)
      return isInside || self.clamps ? plane[x, y, channel] : plane.empty(channel: channel)
    }
    let count = self.samples
    return plane.map { x, y, channel in
      var sum = 0.0
      for row in 0 ..< count {
        for column in 0 ..< count {
          let position = inverse(
            (Double(x) + (Double(column) + 0.5) / Double(count)) / plane.scale,
            (Double(y) + (Double(row) + 0.5) / Double(count)) / plane.scale)
          let (u, v) = (position.x * plane.scale - 0.5, position.y * plane.scale - 0.5)
          let (left, top) = (u.rounded(.down), v.rounded(.down))
          let (fx, fy) = (u - left, v - top)
          let (i, j) = (Int(left), Int(top))
          sum +=
            (sample(i, j, channel) * (1 - fx) + sample(i + 1, j, channel) * fx) * (1 - fy)
            + (sample(i, j + 1, channel) * (1 - fx) + sample(i + 1, j + 1, channel) * fx) * fy
        }
      }
      return sum / Double(count * count)
    }
  }
}
