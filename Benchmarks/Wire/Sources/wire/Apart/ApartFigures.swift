/// What was measured without a wire.
struct ApartFigures: Encodable {
  /// Microseconds, the medians of each part.
  var decodeUs = 0.0
  var workUs: Double
  var encodeUs = 0.0
  var frames: Int
}
