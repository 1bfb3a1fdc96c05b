import CKernels
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

/// Conversion of faces, as models return them, to the canonical box of ``DetectedFace``.
package enum CanonicalFace {
  // Positions in the canonical box of an upright face.
  private static let eyes = PicturePoint(x: 0.49, y: 0.37)
  private static let mouth = PicturePoint(x: 0.5, y: 0.79)
  private static let eyeDistance = 0.4
  private static var mouthDistance: Double { self.mouth.y - self.eyes.y }

  /// Returns the face with these landmarks.
  ///
  /// A face that turns to the side brings the eyes together, one that nods brings the mouth to the
  /// eyes. The size follows from the larger of the two distances, which is shortened little in both
  /// cases.
  package static func face(
    _ landmarks: FaceLandmarks, confidence: Double
  ) -> DetectedFace? {
    let middle = PicturePoint(
      x: (landmarks.leftEye.x + landmarks.rightEye.x) / 2,
      y: (landmarks.leftEye.y + landmarks.rightEye.y) / 2)
    let across = PicturePoint(
      x: landmarks.rightEye.x - landmarks.leftEye.x, y: landmarks.rightEye.y - landmarks.leftEye.y)
    let down = PicturePoint(x: landmarks.mouth.x - middle.x, y: landmarks.mouth.y - middle.y)
    let size = max(
      hypot(across.x, across.y) / self.eyeDistance, hypot(down.x, down.y) / self.mouthDistance)
    // The way from the eyes to the mouth, turned by -90 degrees, is a second estimate of the
    // direction from eye to eye. The longer one counts more.
    let right = PicturePoint(x: across.x + down.y, y: across.y - down.x)
    guard size > 0, hypot(right.x, right.y) > 1e-6 * size else { return nil }
    let roll = atan2(right.y, right.x)

    // The middle of the box as seen from the eyes, and from the mouth. Their mean halves the error
    // of either.
    func center(_ point: PicturePoint, _ place: PicturePoint) -> PicturePoint {
      let x = (0.5 - place.x) * size
      let y = (0.5 - place.y) * size
      return PicturePoint(
        x: point.x + x * cos(roll) - y * sin(roll), y: point.y + x * sin(roll) + y * cos(roll))
    }
    let first = center(middle, self.eyes)
    let second = center(landmarks.mouth, self.mouth)
    return DetectedFace(
      center: PicturePoint(x: (first.x + second.x) / 2, y: (first.y + second.y) / 2), size: size,
      roll: roll, confidence: confidence, landmarks: landmarks)
  }

  /// Returns the face with a box that reaches from the hairline to the chin and from cheek to
  /// cheek, as the annotations of the data set WIDER FACE do.
  ///
  /// In the canonical box these are 0.88 wide and 1.02 high by the usual proportions of faces. They
  /// are not measured.
  package static func face(
    center: PicturePoint, width: Double, height: Double, roll: Double, rollTolerance: Double = 0,
    confidence: Double
  ) -> DetectedFace {
    DetectedFace(
      center: center, size: (width / 0.88 + height / 1.02) / 2, roll: roll,
      rollTolerance: rollTolerance, confidence: confidence)
  }

  /// Returns the size of the box from the hairline to the chin and from cheek to cheek.
  package static func boxSize(of face: DetectedFace) -> (width: Double, height: Double) {
    (0.88 * face.size, 1.02 * face.size)
  }

  /// Returns the landmarks that an average face in the canonical box has.
  package static func landmarks(of face: DetectedFace) -> FaceLandmarks {
    func point(_ place: PicturePoint, right: Double = 0) -> PicturePoint {
      let x = (place.x + right - 0.5) * face.size
      let y = (place.y - 0.5) * face.size
      return PicturePoint(
        x: face.center.x + x * cos(face.roll) - y * sin(face.roll),
        y: face.center.y + x * sin(face.roll) + y * cos(face.roll))
    }
    return FaceLandmarks(
      leftEye: point(self.eyes, right: -self.eyeDistance / 2),
      rightEye: point(self.eyes, right: self.eyeDistance / 2), mouth: point(self.mouth))
  }
}
