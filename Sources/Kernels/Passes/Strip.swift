/// A run of pixels of one row as four planes of floats: straight or premultiplied colour in units of
/// 0 ... 1, unclamped.
@safe
package struct Strip {
  /// Runs are at most this long, so that a strip and its scratch stay in the first-level cache.
  package static let capacity = 256

  package let red: UnsafeMutablePointer<Float>
  package let green: UnsafeMutablePointer<Float>
  package let blue: UnsafeMutablePointer<Float>
  package let alpha: UnsafeMutablePointer<Float>
  /// How many pixels, 1 ... ``capacity``.
  package var count: Int
  /// The first pixel's column.
  package var x: Int
  /// The row.
  package var y: Int
  /// Which frame of the stream this is.
  package let moment: FrameMoment
}
