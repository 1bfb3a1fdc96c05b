package import SidelightKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
}
