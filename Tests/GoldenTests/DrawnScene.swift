import SidelightKernels

/// A landscape drawn by a few lines of arithmetic: sky and sun, hills, water with stripes, a house
/// with hard edges, and a strip of pure colours and greys.
enum DrawnScene {
  /// - Parameter light: The factors of red, green and blue.
  static func frame(
    _ format: PixelFormat, _ size: FrameSize, light: SIMD3<Double> = .one
  ) throws -> Frame {
    let order = format == .bgra8 ? [2, 1, 0] : [0, 1, 2]
    return try Self.frame(format, size) { x, y, channel in
      guard channel < 3 else { return 255 }
      let color = Self.color(
        (Double(x) + 0.5) / Double(size.width), (Double(y) + 0.5) / Double(size.height))
      let place = order[channel]
      return UInt8(min(max(color[place], 0), 1) * light[place] * 255 + 0.5)
    }
  }

  /// A frame of one plane from a function of position and channel.
  static func frame(
    _ format: PixelFormat, _ size: FrameSize,
    _ sample: (_ x: Int, _ y: Int, _ channel: Int) -> UInt8
  ) throws -> Frame {
    let step = format.rowByteCount(plane: 0, width: 1)
    var frame = try BufferPool().makeFrame(
      FrameGeometry(format: format, size: size, color: ColorDescription(alpha: .opaque)))
    for y in 0 ..< size.height {
      frame.withMutableRow(y) { row in
        for index in 0 ..< size.width * step {
          row.storeBytes(
            of: sample(index / step, y, index % step), toByteOffset: index, as: UInt8.self)
        }
      }
    }
    return frame.finish()
  }

  /// The colour at a position of a picture of width and height 1.
  private static func color(_ x: Double, _ y: Double) -> [Double] {
    if y > 0.92 { return Self.chart(x) }
    let sun = ((x - 0.72) * (x - 0.72) * 1.78 + (y - 0.2) * (y - 0.2)).squareRoot()
    // Parabolas, which need no library: the same on every machine.
    let hills = 0.52 - 0.25 * max(0, 1 - 12 * (x - 0.25) * (x - 0.25))
    if y > 0.7 {
      let stripe = Int(y * 120) % 4 == 0 ? 0.25 : 0.0
      return [0.08 + stripe, 0.22 + 0.2 * x + stripe, 0.38 + 0.3 * (0.9 - y) + stripe]
    }
    if (0.42 ..< 0.6).contains(x), (0.48 ..< 0.74).contains(y) {
      let isWindow = Int(x * 50) % 3 == 0 && Int(y * 40) % 4 == 1
      return isWindow ? [1, 0.92, 0.5] : [0.7, 0.3 + 0.1 * y, 0.22]
    }
    if y > hills { return [0.2 + 0.3 * x, 0.42 + 0.2 * (y - hills), 0.12] }
    if sun < 0.11 { return [1, 0.98, 0.85] }
    let glow = max(0, 0.3 - sun)
    return [0.35 + 0.4 * y + glow, 0.55 + 0.25 * y + glow, 0.9 - 0.1 * y]
  }

  private static func chart(_ x: Double) -> [Double] {
    let patch = Int(x * 16)
    guard patch < 8 else { return Array(repeating: Double(patch - 8) / 7, count: 3) }
    return (0 ..< 3).map { Double(patch >> $0 & 1) }
  }
}
