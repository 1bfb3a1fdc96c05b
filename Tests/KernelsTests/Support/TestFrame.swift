import SidelightKernels

/// Frames for tests of filters.
enum TestFrame {
  /// The layout of a frame's rows in memory.
  enum Padding: CaseIterable {
    case packed
    case aligned
    /// Odd strides, and planes that start at odd addresses.
    case ragged
  }

  /// A picture with gradients, edges and noise. In formats with alpha all of its values occur, and
  /// premultiplied colour does not exceed it.
  static func make(
    _ geometry: FrameGeometry, seed: UInt64 = 1, padding: Padding = .aligned
  ) throws -> Frame {
    var random = TestRandom(seed: seed)
    let (width, height) = (geometry.size.width, geometry.size.height)
    var alpha: [UInt8] = []
    return try Self.make(geometry, padding: padding) { plane, x, y, channel in
      let gradient = plane == 0 ? 200 * x / width + 40 * y / height : 90 + 60 * y / height
      let edge = (x / 7 + y / 5).isMultiple(of: 2) ? 30 : 0
      let value = min(255, gradient + edge + Int.random(in: 0 ... 25, using: &random))
      guard geometry.format.hasAlpha, geometry.color.alpha != .opaque else { return UInt8(value) }
      if channel == 0 {
        alpha = [UInt8((x * 37 + y * 11) % 300 > 200 ? 255 : (x * 37 + y * 11) % 256)]
      }
      if channel == 3 { return alpha[0] }
      return geometry.color.alpha == .premultiplied
        ? UInt8(value * Int(alpha[0]) / 255) : UInt8(value)
    }
  }

  /// A picture that is the same everywhere.
  static func flat(_ geometry: FrameGeometry, _ value: UInt8) throws -> Frame {
    try Self.make(geometry, padding: .aligned) { _, _, _, _ in value }
  }

  /// A picture from a function of plane, position in the plane, and channel.
  static func make(
    _ geometry: FrameGeometry, padding: Padding,
    _ sample: (_ plane: Int, _ x: Int, _ y: Int, _ channel: Int) -> UInt8
  ) throws -> Frame {
    let layout = try Self.layout(geometry, padding)
    var frame = BufferPool().makeFrame(layout: layout, color: geometry.color)
    for shape in PlaneShape.planes(geometry.format, geometry.size) {
      for y in 0 ..< shape.height {
        frame.withMutableRow(y, plane: shape.plane) { row in
          for index in 0 ..< shape.samples {
            row.storeBytes(
              of: sample(shape.plane, index / shape.step, y, index % shape.step),
              toByteOffset: index, as: UInt8.self)
          }
        }
      }
    }
    return frame.finish()
  }

  /// The layout of a frame's planes.
  static func layout(_ geometry: FrameGeometry, _ padding: Padding) throws -> FrameLayout {
    switch padding {
    case .packed: return try FrameLayout(packed: geometry.format, size: geometry.size)
    case .aligned: return try FrameLayout(aligned: geometry.format, size: geometry.size)
    case .ragged:
      var offset = 3
      let planes = PlaneShape.planes(geometry.format, geometry.size).map { shape in
        let plane = PlaneLayout(offset: offset, stride: shape.samples + 5)
        offset += plane.stride * shape.height + 1
        return plane
      }
      return try FrameLayout(
        format: geometry.format, size: geometry.size, planes: planes, available: offset)
    }
  }
}
