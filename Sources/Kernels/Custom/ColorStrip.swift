/// A run of pixels of one row, to be worked on in place. Valid only during the call
/// that gets it.
@safe
@frozen
public struct ColorStrip {
  @usableFromInline let red: UnsafeMutablePointer<Float>
  @usableFromInline let green: UnsafeMutablePointer<Float>
  @usableFromInline let blue: UnsafeMutablePointer<Float>
  @usableFromInline let alpha: UnsafeMutablePointer<Float>
  /// How many pixels.
  public let count: Int
  /// The first pixel's column.
  public let x: Int
  /// The row.
  public let y: Int
  /// The frame's number in its stream.
  public let frame: UInt64

  init(_ strip: Strip) {
    unsafe self.red = strip.red
    unsafe self.green = strip.green
    unsafe self.blue = strip.blue
    unsafe self.alpha = strip.alpha
    self.count = strip.count
    self.x = strip.x
    self.y = strip.y
    self.frame = strip.moment.index
  }

  /// The pixel at an index.
  ///
  /// - Precondition: The index lies in `0 ..< count`.
  @inlinable
  public subscript(index: Int) -> Pixel {
    get {
      precondition((0 ..< self.count).contains(index), "the strip has \(self.count) pixels")
      return unsafe Pixel(
        red: self.red[index], green: self.green[index], blue: self.blue[index],
        alpha: self.alpha[index])
    }
    nonmutating set {
      precondition((0 ..< self.count).contains(index), "the strip has \(self.count) pixels")
      unsafe self.red[index] = newValue.red
      unsafe self.green[index] = newValue.green
      unsafe self.blue[index] = newValue.blue
      unsafe self.alpha[index] = newValue.alpha
    }
  }
}
