/// The pixels round one pixel. Valid only during the call that gets it.
@safe
@frozen
public struct PixelWindow {
  /// The middle's column.
  @usableFromInline var x: Int
  @usableFromInline let reach: Int
  /// For each row of the window, from the top: its red plane's first pixel within the frame.
  @usableFromInline let rows: UnsafePointer<UnsafePointer<Float>>
  /// Floats from one colour plane of a row to the next.
  @usableFromInline let planeStride: Int

  init(reach: Int, rows: UnsafePointer<UnsafePointer<Float>>, planeStride: Int) {
    self.x = 0
    self.reach = reach
    unsafe self.rows = rows
    self.planeStride = planeStride
  }

  /// The pixel at an offset from the middle, to the right and down.
  ///
  /// - Precondition: Neither offset exceeds the kernel's reach.
  @inlinable
  public subscript(dx: Int, dy: Int) -> Pixel {
    precondition(
      max(abs(dx), abs(dy)) <= self.reach, "the kernel looks further than its reach")
    let pixel = unsafe self.rows[dy + self.reach] + (self.x + dx)
    return unsafe Pixel(
      red: pixel[0], green: pixel[self.planeStride], blue: pixel[2 * self.planeStride],
      alpha: pixel[3 * self.planeStride])
  }
}
