import SidelightKernels

/// A low-pass filter with a cutoff frequency that rises with speed: it removes jitter from a value
/// that rests, and follows a value that moves with little delay (Casiez, Roussel and Vogel, "1 euro
/// filter", CHI 2012).
///
/// A sample `x` at `dt` seconds after the previous one, with the previous results `y` and `v`,
/// gives:
///
/// - `v' = v + w(derivativeCutoff) ((x - y) / dt - v)`
/// - `y' = y + w(minimumCutoff + speedCoefficient |v'| / unit) (x - y)`
/// - `w(f) = 1 / (1 + 1 / (2 pi f dt))`
///
/// A caller that measures the speed passes it as `v'`, without a filter: it is then free of the
/// noise of the samples, and of delay.
///
/// Speed is measured in units per second. With the width of a face as the unit, a face is filtered
/// in the same way at every size.
package struct OneEuroFilter: Sendable, Hashable {
  /// The cutoff of a value that rests, in Hz.
  package let minimumCutoff: Double
  /// The rise of the cutoff, in Hz, per unit per second.
  package let speedCoefficient: Double
  /// The cutoff of the speed, in Hz.
  package let derivativeCutoff: Double
  /// The filtered value; `nil` before the first sample.
  package private(set) var value: Double?
  /// The filtered speed per second, in the scale of the samples.
  package private(set) var speed = 0.0

  package init(minimumCutoff: Double, speedCoefficient: Double, derivativeCutoff: Double = 3) {
    self.minimumCutoff = minimumCutoff
    self.speedCoefficient = speedCoefficient
    self.derivativeCutoff = derivativeCutoff
  }

  /// Filters the next sample.
  ///
  /// - Parameters:
  ///   - sample: The measured value. A sample that is not finite is ignored.
  ///   - unit: The unit of speed, in the scale of the samples. Greater than 0.
  ///   - elapsed: The time since the previous sample. The first sample is returned unchanged; a
  ///     later one with a time of 0 or less is ignored.
  ///   - measured: The speed per second, in the scale of the samples; `nil` derives it from them.
  /// - Returns: The filtered value.
  package mutating func filter(
    _ sample: Double, unit: Double = 1, elapsed: Duration, speed measured: Double? = nil
  ) -> Double {
    guard let value = self.value else {
      guard sample.isFinite else { return 0 }
      self.value = sample
      return sample
    }
    let seconds = elapsed / .seconds(1)
    guard sample.isFinite, seconds > 0 else { return value }
    let change = sample - value
    if let measured, measured.isFinite {
      self.speed = measured
    } else {
      self.speed +=
        Self.weight(self.derivativeCutoff, seconds) * (change / seconds - self.speed)
    }
    let cutoff = self.minimumCutoff + self.speedCoefficient * abs(self.speed) / unit
    let filtered = value + Self.weight(cutoff, seconds) * change
    self.value = filtered
    return filtered
  }

  private static func weight(_ cutoff: Double, _ seconds: Double) -> Double {
    1 / (1 + 1 / (2 * .pi * cutoff * seconds))
  }
}

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
