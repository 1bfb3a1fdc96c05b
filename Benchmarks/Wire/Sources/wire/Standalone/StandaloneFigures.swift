/// The results of a measurement without a transport.
struct StandaloneFigures: Encodable {
  /// The medians per part in microseconds.
  var decodeUs = 0.0
  var workUs: Double
  var encodeUs = 0.0
  var frames: Int
}
