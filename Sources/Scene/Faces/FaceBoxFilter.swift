import SidelightKernels

/// One-euro filters of a face's centre, size and angle.
///
/// Speeds are measured in face widths per second, which filters a face in the same way at every
/// distance: 1 Hz and 12 Hz per face width per second for the centre, 0.6 Hz and 6 Hz for the size,
/// 1 Hz for the angle. A point at the edge of the face moves half a face width when the face turns
/// by one radian, and the angle's cutoff rises by 6 Hz per radian per second.
///
/// Optical flow measures speeds better than positions do: a detection moves the position by its
/// error, while the face is at rest.
package struct FaceBoxFilter: Sendable, Hashable {
  private var x = OneEuroFilter(minimumCutoff: 1, speedCoefficient: 12)
  private var y = OneEuroFilter(minimumCutoff: 1, speedCoefficient: 12)
  private var size = OneEuroFilter(minimumCutoff: 0.6, speedCoefficient: 6)
  /// The speed of the centre in pixels per second.
  private var centerSpeed = 0.0
  private var roll = OneEuroFilter(minimumCutoff: 1, speedCoefficient: 6)

  package init() {}

  /// The filtered speed of the centre in face widths per second.
  package var speed: Double {
    guard let size = self.size.value, size > 0 else { return 0 }
    return self.centerSpeed / size
  }

  /// Filters the next position.
  ///
  /// - Parameters:
  ///   - box: The measured position. Its size is greater than 0.
  ///   - elapsed: The time since the previous position.
  ///   - movement: The start and the end of the face's movement in this time according to optical
  ///     flow; `nil` if it failed.
  package mutating func filter(
    _ box: FaceBox, elapsed: Duration, flow movement: (start: FaceBox, end: FaceBox)? = nil
  ) -> FaceBox {
    let seconds = elapsed / .seconds(1)
    // The speed of the centre counts for both axes, which avoids lag in an axis in which a face
    // turns around.
    let speed = movement.map { ($0.end.center - $0.start.center).length / seconds }
    let growth = movement.map { ($0.end.size - $0.start.size) / seconds }
    let turn = movement.map { normalizedAngle($0.end.roll - $0.start.roll) / seconds }
    defer {
      self.centerSpeed =
        speed ?? PicturePoint(x: self.x.speed, y: self.y.speed).length
    }
    // An angle near half a turn continues on the other side.
    let before = self.roll.value ?? box.roll
    let roll = before + normalizedAngle(box.roll - before)
    return FaceBox(
      center: PicturePoint(
        x: self.x.filter(
          box.center.x, unit: box.size, elapsed: elapsed, speed: speed),
        y: self.y.filter(
          box.center.y, unit: box.size, elapsed: elapsed, speed: speed)),
      size: self.size.filter(
        box.size, unit: box.size, elapsed: elapsed, speed: growth),
      roll: normalizedAngle(self.roll.filter(roll, elapsed: elapsed, speed: turn)))
  }
}
