package import SidelightKernels

/// The position of a face in a picture: the square that ``DetectedFace`` defines.
package struct FaceBox: Sendable, Hashable {
  /// The centre of the square, in the picture's pixels.
  package var center: PicturePoint
  /// The side of the square in pixels: one *face width*. Greater than 0.
  package var size: Double
  /// The angle of the face in radians, positive clockwise, 0 is upright.
  package var roll: Double

  package init(center: PicturePoint, size: Double, roll: Double = 0) {
    self.center = center
    self.size = size
    self.roll = roll
  }

  package init(_ face: DetectedFace) {
    self.init(center: face.center, size: face.size, roll: face.roll)
  }

  /// Returns a point of the square in the picture.
  ///
  /// - Parameters:
  ///   - u: The position from the left (0) to the right side (1) of the upright square.
  ///   - v: The position from the top (0) to the bottom (1).
  package func point(u: Double, v: Double) -> PicturePoint {
    self.center
      + PicturePoint(x: (u - 0.5) * self.size, y: (v - 0.5) * self.size).turned(by: self.roll)
  }

  /// Returns the box in another scale of the picture, for example the frame's.
  package func scaled(by factor: Double) -> FaceBox {
    FaceBox(center: factor * self.center, size: factor * self.size, roll: self.roll)
  }

  /// Returns the box after a movement.
  package func moved(by transform: SimilarityTransform) -> FaceBox {
    FaceBox(
      center: transform(self.center), size: self.size * transform.scale,
      roll: normalizedAngle(self.roll + transform.rotation))
  }

  /// Returns the box moved a part of the way to another.
  ///
  /// - Parameters:
  ///   - box: The other box.
  ///   - share: The part of the way, 0 to 1.
  ///   - rollTolerance: The difference of angles in radians to ignore.
  package func pulled(
    towards box: FaceBox, by share: Double, rollTolerance: Double = 0
  ) -> FaceBox {
    let turn = normalizedAngle(box.roll - self.roll)
    let excess = max(0, abs(turn) - rollTolerance)
    return FaceBox(
      center: self.center + share * (box.center - self.center),
      size: self.size + share * (box.size - self.size),
      roll: normalizedAngle(self.roll + (turn < 0 ? -share : share) * excess))
  }

  /// Returns the area that two boxes share, divided by the area that they cover together. Angles
  /// are ignored: the squares are taken upright.
  package func overlap(with other: FaceBox) -> Double {
    let reach = (self.size + other.size) / 2
    let (x, y) = (
      min(reach - abs(self.center.x - other.center.x), self.size, other.size),
      min(reach - abs(self.center.y - other.center.y), self.size, other.size)
    )
    guard x > 0, y > 0 else { return 0 }
    let shared = x * y
    return shared / (self.size * self.size + other.size * other.size - shared)
  }

  /// Whether the coordinates are finite and the size is greater than 0.
  package var isValid: Bool {
    self.center.isFinite && self.size.isFinite && self.size > 0 && self.roll.isFinite
  }
}
