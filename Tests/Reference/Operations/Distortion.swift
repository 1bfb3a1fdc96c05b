package import SidelightKernels

extension RadialWarpOperation: ReferenceOperation {
  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
    plane.map { x, y, channel in
      // Relative to the centre, in pixels of the frame.
      let dx = (Double(x) + 0.5) / plane.scale - self.map.center.x
      let dy = (Double(y) + 0.5) / plane.scale - self.map.center.y
      let distance = (dx * dx + dy * dy).squareRoot()
      guard distance < self.map.reach else { return plane[x, y, channel] }
      let factor = self.map.factor(distance)
      let u = (self.map.center.x + dx * factor.re - dy * factor.im) * plane.scale - 0.5
      let v = (self.map.center.y + dx * factor.im + dy * factor.re) * plane.scale - 0.5
      let left = min(max(u, 0), Double(plane.width - 1))
      let top = min(max(v, 0), Double(plane.height - 1))
      let (column, row) = (Int(left), Int(top))
      func sample(_ x: Int, _ y: Int) -> Double { plane[column + x, row + y, channel] }
      let (right, down) = (left - Double(column), top - Double(row))
      let upper = sample(0, 0) + (sample(1, 0) - sample(0, 0)) * right
      let lower = sample(0, 1) + (sample(1, 1) - sample(0, 1)) * right
      let empty = plane.empty(channel: channel)
      let value = upper + (lower - upper) * down
      // The rim of the hole is one pixel of the plane wide.
      let cover = min(max((distance - self.map.hole) * plane.scale + 0.5, 0), 1)
      return self.map.hole > 0 ? empty + (value - empty) * cover : value
    }
  }
}
