/// An axis-aligned rectangle of whole pixels within a frame; never empty.
package struct PixelRect: Sendable, Hashable {
  /// Columns.
  package let x: Range<Int>
  /// Rows.
  package let y: Range<Int>

  package init(x: Range<Int>, y: Range<Int>) {
    self.x = x
    self.y = y
  }

  /// Rounds a region's edges to the nearest pixel in a frame of the given size, and clips it to the
  /// frame.
  ///
  /// - Returns: `nil` if the region is outside the frame.
  package init?(_ region: Region, in size: FrameSize) {
    func span(_ origin: Double, _ length: Double, _ limit: Int) -> Range<Int>? {
      let lower = min(max(origin.rounded(), 0), Double(limit))
      let upper = min(max((origin + length).rounded(), 0), Double(limit))
      return lower < upper ? Int(lower) ..< Int(upper) : nil
    }
    guard
      let x = span(
        region.origin.x.pixels(in: size), region.width.pixels(in: size), size.width),
      let y = span(
        region.origin.y.pixels(in: size), region.height.pixels(in: size), size.height)
    else { return nil }
    self.x = x
    self.y = y
  }

  /// Whether the rectangle is the whole frame.
  package func covers(_ size: FrameSize) -> Bool {
    self.x == 0 ..< size.width && self.y == 0 ..< size.height
  }
}
