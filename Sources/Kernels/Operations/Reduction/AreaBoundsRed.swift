/// The bounding box of an area's pixels with red.
private struct RedBounds: PixelReduction {
  /// Half a level.
  private static let least: Float = 0.5 / 255

  struct Measurement: Sendable {
    var x = (low: Int.max, high: -1)
    var y = (low: Int.max, high: -1)
  }

  func measurement(of size: FrameSize) -> Measurement { Measurement() }

  func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
    guard pixel.x > Self.least else { return }
    measurement.x = (min(measurement.x.low, x), max(measurement.x.high, x))
    measurement.y = (min(measurement.y.low, y), max(measurement.y.high, y))
  }

  func add(_ strip: Strip, isOpaque: Bool, to measurement: inout Measurement) {
    var first = 0
    while first < strip.count, unsafe !(strip.red[first] > Self.least) { first += 1 }
    guard first < strip.count else { return }
    var last = strip.count - 1
    while unsafe !(strip.red[last] > Self.least) { last -= 1 }
    for index in [first, last] {
      self.add(
        strip.pixel(index, isOpaque: isOpaque), x: strip.x + index, y: strip.y, to: &measurement)
    }
  }

  func merge(_ other: Measurement, into measurement: inout Measurement) {
    for bound in [\Measurement.x, \.y] {
      let (own, added) = (measurement[keyPath: bound], other[keyPath: bound])
      measurement[keyPath: bound] = (min(own.low, added.low), max(own.high, added.high))
    }
  }

  func pixel(
    _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
  ) -> SIMD4<Float> {
    guard measurement.x.high >= 0 else { return [0, 0, 0, 1] }
    let isLeft = 2 * x < size.width
    func value(_ bounds: (low: Int, high: Int), _ length: Int) -> Float {
      Float(isLeft ? bounds.low : bounds.high - bounds.low + 1) / Float(length)
    }
    return [value(measurement.x, size.width), value(measurement.y, size.height), 0, 1]
  }
}

/// The bounding box of red.
struct AreaBoundsRed: ArgumentFilter {
  static let description = FilterDescription.area(
    "areaBoundsRed",
    "Fills the frame with the bounding box of red in an area, as colours.",
    examples: ["colorThreshold(threshold: 0.9), areaBoundsRed"],
    formula: """
      The smallest box around the pixels of extent with r > .5 / 255, premultiplied: (left / width, \
      top / height, 0) on the frame's left half, (the box's width / width, its height / height, 0) on the \
      right; black without such pixels; opaque
      """)

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.reduction(RedBounds(), of: self.arguments, "the bounding box of red", for: geometry)]
  }
}
