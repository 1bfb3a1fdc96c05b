import CKernels

/// A run of pixels of one row as four planes of floats: straight or premultiplied colour in units
/// of 0 ... 1, unclamped.
@safe
package struct Strip {
  /// The longest run. A strip and its scratch fit the first-level cache.
  package static let capacity = 256

  package let red: UnsafeMutablePointer<Float>
  package let green: UnsafeMutablePointer<Float>
  package let blue: UnsafeMutablePointer<Float>
  package let alpha: UnsafeMutablePointer<Float>
  /// The number of pixels, 1 ... ``capacity``.
  package var count: Int
  /// The first pixel's column.
  package var x: Int
  /// The row.
  package var y: Int
  /// The frame's position in its stream.
  package let time: FrameTime

  package init(
    red: UnsafeMutablePointer<Float>, green: UnsafeMutablePointer<Float>,
    blue: UnsafeMutablePointer<Float>, alpha: UnsafeMutablePointer<Float>, count: Int, x: Int,
    y: Int, time: FrameTime
  ) {
    unsafe self.red = red
    unsafe self.green = green
    unsafe self.blue = blue
    unsafe self.alpha = alpha
    self.count = count
    self.x = x
    self.y = y
    self.time = time
  }

  /// Returns a strip with this strip's colour and another's alpha.
  func replacingAlpha(by other: Strip) -> Strip {
    unsafe Strip(
      red: self.red, green: self.green, blue: self.blue, alpha: other.alpha, count: self.count,
      x: self.x, y: self.y, time: self.time)
  }

  /// Copies another strip's pixels.
  func copy(from other: Strip) {
    unsafe self.red.update(from: other.red, count: self.count)
    unsafe self.green.update(from: other.green, count: self.count)
    unsafe self.blue.update(from: other.blue, count: self.count)
    unsafe self.alpha.update(from: other.alpha, count: self.count)
  }

  /// Mixes the strip with its input: before + (this - before) * amount. Outside the rectangle the
  /// result is the input.
  ///
  /// - Parameter weighsAlpha: Whether both strips hold straight colours that are to be mixed by
  ///   alpha. The input is overwritten then.
  func mix(
    from before: Strip, _ amount: Float, _ rect: PixelRect?, _ rows: sl_rows,
    weighsAlpha: Bool = false
  ) {
    var inside = 0 ..< self.count
    if let rect {
      let columns = rect.y.contains(self.y) ? rect.x : 0 ..< 0
      let lower = min(max(columns.lowerBound - self.x, 0), self.count)
      let upper = min(max(columns.upperBound - self.x, lower), self.count)
      inside = lower ..< upper
    }
    let (start, count) = (inside.lowerBound, inside.count)
    let mixes = amount != 1 && count > 0
    if mixes, weighsAlpha {
      for strip in [self, before] {
        unsafe rows.premultiply(
          strip.red + start, strip.green + start, strip.blue + start, strip.alpha + start, count)
      }
    }
    func mix(_ result: UnsafeMutablePointer<Float>, _ earlier: UnsafeMutablePointer<Float>) {
      unsafe result.update(from: earlier, count: start)
      unsafe (result + inside.upperBound).update(
        from: earlier + inside.upperBound, count: self.count - inside.upperBound)
      if mixes { unsafe rows.mix(result + start, earlier + start, count, amount) }
    }
    unsafe mix(self.red, before.red)
    unsafe mix(self.green, before.green)
    unsafe mix(self.blue, before.blue)
    unsafe mix(self.alpha, before.alpha)
    if mixes, weighsAlpha {
      unsafe rows.unpremultiply(
        self.red + start, self.green + start, self.blue + start, self.alpha + start, count)
    }
  }
}

extension PixelRect {
  /// Whether any of the strip's pixels is in the rectangle.
  func intersects(_ strip: Strip) -> Bool {
    self.y.contains(strip.y) && self.x.overlaps(strip.x ..< strip.x + strip.count)
  }
}

extension Strip {
  /// Calls `body` with the floats of red, green and blue, in this order.
  @inline(__always)
  func forEachColor(_ body: (_ channel: UnsafeMutablePointer<Float>) -> Void) {
    unsafe body(self.red)
    unsafe body(self.green)
    unsafe body(self.blue)
  }

  /// Calls `body` with the floats of red, green, blue and alpha, in this order.
  @inline(__always)
  package func forEachChannel(_ body: (_ channel: UnsafeMutablePointer<Float>) -> Void) {
    unsafe self.forEachColor(body)
    unsafe body(self.alpha)
  }
}

/// Memory for strips, owned by one band.
@safe
package struct StripMemory: ~Copyable {
  private let floats: UnsafeMutablePointer<Float>

  /// The floats of one strip: four planes.
  private static let stripFloats = 4 * Strip.capacity

  /// Allocates strips.
  package init(strips: Int) {
    let count = strips * Self.stripFloats
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: count * MemoryLayout<Float>.stride, alignment: 64)
    unsafe self.floats = bytes.initializeMemory(as: Float.self, repeating: 0, count: count)
  }

  deinit {
    unsafe self.floats.deallocate()
  }

  /// Returns the strip at an index, without pixels.
  package func strip(_ index: Int, time: FrameTime) -> Strip {
    let base = unsafe self.floats + index * Self.stripFloats
    return unsafe Strip(
      red: base, green: base + Strip.capacity, blue: base + 2 * Strip.capacity,
      alpha: base + 3 * Strip.capacity, count: 0, x: 0, y: 0, time: time)
  }

  /// Returns the strip at an index, for the same pixels as another.
  func strip(_ index: Int, at other: Strip) -> Strip {
    var strip = self.strip(index, time: other.time)
    strip.count = other.count
    strip.x = other.x
    strip.y = other.y
    return strip
  }
}

/// Memory for the pixels of a second picture, on the stack.
enum ScratchStrip {
  /// Calls `body` with a strip for the same pixels as another. Its contents are undefined.
  static func with(_ strip: Strip, _ body: (Strip) -> Void) {
    unsafe withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 * Strip.capacity) { floats in
      let base = unsafe floats.baseAddress.unsafelyUnwrapped
      unsafe body(
        Strip(
          red: base, green: base + Strip.capacity, blue: base + 2 * Strip.capacity,
          alpha: base + 3 * Strip.capacity, count: strip.count, x: strip.x, y: strip.y,
          time: strip.time))
    }
  }
}

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
