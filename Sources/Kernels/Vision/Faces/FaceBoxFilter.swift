/// One-euro filters of a face's centre, size and angle.
///
/// Speeds are measured in face widths per second, so that a face is filtered in the same way at
/// every distance: 1 Hz and 12 Hz per face width per second for the centre, 0.6 Hz and 6 Hz for the
/// size, 1 Hz for the angle. A point at the edge of the face moves half a face width when the face
/// turns by one radian, so the angle's cutoff rises by 6 Hz per radian per second.
package struct FaceBoxFilter: Sendable, Hashable {
  private var x = OneEuroFilter(minimumCutoff: 1, speedCoefficient: 12)
  private var y = OneEuroFilter(minimumCutoff: 1, speedCoefficient: 12)
  private var size = OneEuroFilter(minimumCutoff: 0.6, speedCoefficient: 6)
  private var roll = OneEuroFilter(minimumCutoff: 1, speedCoefficient: 6)

  package init() {}

  /// The filtered speed of the centre in face widths per second.
  package var speed: Double {
    guard let size = self.size.value, size > 0 else { return 0 }
    return PicturePoint(x: self.x.speed, y: self.y.speed).length / size
  }

  /// Filters the next place.
  ///
  /// - Parameters:
  ///   - box: The measured place. Its size is greater than 0.
  ///   - elapsed: The time since the previous place.
  package mutating func filter(_ box: FaceBox, elapsed: Duration) -> FaceBox {
    // An angle near half a turn continues on the other side.
    let before = self.roll.value ?? box.roll
    let roll = before + normalizedAngle(box.roll - before)
    return FaceBox(
      center: PicturePoint(
        x: self.x.filter(box.center.x, unit: box.size, elapsed: elapsed),
        y: self.y.filter(box.center.y, unit: box.size, elapsed: elapsed)),
      size: self.size.filter(box.size, unit: box.size, elapsed: elapsed),
      roll: normalizedAngle(self.roll.filter(roll, elapsed: elapsed)))
  }
}
