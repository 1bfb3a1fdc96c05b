import CKernels
import Synchronization

/// A picture that is composited with frames or masks them: premultiplied red, green, blue and
/// alpha, in units of 1/32 level.
public final class ImageAsset: Sendable {
  /// The size in pixels.
  public let size: FrameSize
  private let raster: Raster
  private let linear = Mutex<Raster?>(nil)
  let placements = ImagePlacements()
  let pyramids = ImagePyramidCache()
  /// Retained for the pixels' lifetime.
  private let lease: (any AssetLease)?

  /// Converts a frame of any format. The frame's orientation is ignored; the decoder applies it.
  ///
  /// - Throws: ``FrameLayoutError`` for a size outside 1 ... ``FrameLayout/maxDimension``.
  public convenience init(_ frame: Frame) throws(FrameLayoutError) {
    try self.init(frame, lease: nil)
  }

  /// Converts a frame of any format.
  ///
  /// - Parameter lease: An object that the image retains.
  package init(_ frame: Frame, lease: (any AssetLease)?) throws(FrameLayoutError) {
    self.size = frame.size
    self.lease = lease
    let pool = Self.pool
    self.raster = Raster(
      layout: try FrameLayout(aligned: .rgba8, size: frame.size), depth: .deep, pool: pool)
    Self.convert(frame, to: self.raster)
  }

  /// Whether the image's memory is counted by a lease.
  var isLeased: Bool { self.lease != nil }

  /// A pool without idle buffers: images live long, and few have the same size.
  private static let pool = BufferPool(maxIdleBytes: 0, usesPages: true)

  /// The maximum size of an image in bytes, with its pixels in both working spaces. Copies
  /// resampled for frames belong to the plans that use them.
  package static func maxByteCount(of size: FrameSize) -> Int {
    // Rows of four samples of two bytes, and their padding.
    2 * size.height * (8 * size.width + 256)
  }

  /// The pixels in a working space. Pixels in linear light are computed on first use.
  func raster(in space: WorkingSpace) -> Raster {
    guard space == .sRGBLinear else { return self.raster }
    return self.linear.withLock { linear in
      if let linear { return linear }
      let raster = self.linearized()
      linear = raster
      return raster
    }
  }

  private func linearized() -> Raster {
    let raster = Raster(
      layout: self.raster.layout, depth: .deep, pool: Self.pool)
    let rows = unsafe sl_rows_current().pointee
    let source = unsafe PixelRows(self.raster.view, rows)
    let destination = unsafe PixelRows(raster.view, rows)
    let memory = StripMemory(strips: 1)
    var strip = memory.strip(0, time: FrameTime())
    for y in 0 ..< self.size.height {
      strip.y = y
      for x in stride(from: 0, to: self.size.width, by: Strip.capacity) {
        strip.x = x
        strip.count = min(Strip.capacity, self.size.width - x)
        source.load(strip)
        unsafe rows.unpremultiply(
          strip.red, strip.green, strip.blue, strip.alpha, strip.count)
        unsafe strip.forEachColor { unsafe rows.srgb_to_linear($0, strip.count) }
        unsafe rows.premultiply(strip.red, strip.green, strip.blue, strip.alpha, strip.count)
        destination.store(strip)
      }
    }
    // The rows above are addresses without ownership.
    withExtendedLifetime(raster) {}
    return raster
  }

  private static func convert(_ frame: Frame, to raster: Raster) {
    let rows = unsafe sl_rows_current().pointee
    let destination = unsafe PixelRows(raster.view, rows)
    let source = Raster(frame)
    let load: (Strip) -> Void
    if frame.format.isYUV {
      let yuv = unsafe YUVRows(source.view, YUVConversion(frame.color), rows)
      load = { yuv.load($0) }
    } else {
      let pixels = unsafe PixelRows(source.view, rows)
      load = { pixels.load($0) }
    }
    let memory = StripMemory(strips: 1)
    var strip = memory.strip(0, time: FrameTime())
    let isOpaque = !frame.format.hasAlpha || frame.color.alpha == .opaque
    for y in 0 ..< frame.size.height {
      strip.y = y
      for x in stride(from: 0, to: frame.size.width, by: Strip.capacity) {
        strip.x = x
        strip.count = min(Strip.capacity, frame.size.width - x)
        load(strip)
        if isOpaque {
          unsafe strip.alpha.update(repeating: 1, count: strip.count)
        } else if frame.color.alpha == .straight {
          unsafe rows.premultiply(
            strip.red, strip.green, strip.blue, strip.alpha, strip.count)
        }
        destination.store(strip)
      }
    }
    // The rows above are addresses without ownership.
    withExtendedLifetime((source, raster)) {}
  }
}

extension ImageAsset: Hashable {
  /// Whether both are the same object.
  public static func == (left: ImageAsset, right: ImageAsset) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}
