/// The pixels along a line through the origin, as weights of neighbouring pairs.
///
/// One tap for each whole step along the line's greater extent; across it, the tap lies between two
/// pixels and takes its share of both.
struct LineTaps: Sendable {
  /// One step along the line.
  struct Tap: Sendable, Hashable {
    /// The nearer of the two pixels to the left or above.
    let x: Int
    let y: Int
    /// The share of the other pixel, 0 ..< 1.
    let share: Double
    /// How much of the step the line covers, more than 0 and at most 1.
    let weight: Double
  }

  /// The steps, from one end to the other.
  let taps: [Tap]
  /// Whether the pairs lie one above the other; else side by side.
  let isFlat: Bool

  /// - Parameters:
  ///   - length: The line's length, in pixels.
  ///   - cosine: Its direction to the right.
  ///   - sine: Its direction downwards.
  init(length: Double, cosine: Double, sine: Double) {
    self.isFlat = abs(cosine) >= abs(sine)
    let major = self.isFlat ? cosine : sine
    let slope = (self.isFlat ? sine : cosine) / major
    let half = length * abs(major) / 2
    let steps = max(0, Int((half - 0.5).rounded(.up)))
    var taps: [Tap] = []
    for step in -steps ... steps {
      let weight = steps == 0 ? 1 : min(1, half + 0.5 - Double(abs(step)))
      let across = Double(step) * slope
      // What is a pixel but for rounding is one.
      let nearest = across.rounded()
      let place = abs(across - nearest) < 1e-9 ? nearest : across
      let floor = place.rounded(.down)
      taps.append(
        Tap(
          x: self.isFlat ? step : Int(floor), y: self.isFlat ? Int(floor) : step,
          share: place - floor, weight: weight))
    }
    self.taps = taps
  }
}
