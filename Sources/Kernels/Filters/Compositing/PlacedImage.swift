import CKernels

/// An image resampled for its place in frames of one size: made for a plan, read with every frame.
/// ``ImageAsset/placed(x:y:width:height:fit:in:_:)`` shares it among plans.
final class PlacedImage: Sendable {
  /// Premultiplied red, green, blue and alpha of the pixels in ``rect``.
  private let raster: Raster
  /// The pixels of the frame that the image covers.
  let rect: PixelRect
  /// The image, where the raster is its own.
  private let owner: ImageAsset?

  /// Brings an image into a rectangle of a frame.
  ///
  /// Where the image grows it is interpolated linearly; where it shrinks, a pixel is the mean of
  /// what it covers. Pixels whose centre lies outside the rectangle, or outside the picture in it,
  /// are not covered.
  ///
  /// - Parameters:
  ///   - x: The rectangle's left edge in pixels.
  ///   - y: Its upper edge.
  ///   - width: Its width.
  ///   - height: Its height.
  ///   - space: Where the colours are to be mixed.
  /// - Returns: `nil` if nothing of it is in the frame.
  init?(
    _ image: ImageAsset, x: Double, y: Double, width: Double, height: Double, fit: PictureFit,
    in size: FrameSize, _ space: WorkingSpace
  ) {
    let source = image.raster(in: space)
    let (wide, high) = (Double(image.size.width), Double(image.size.height))
    var (scaleX, scaleY) = (width / wide, height / high)
    switch fit {
    case .fit: (scaleX, scaleY) = (min(scaleX, scaleY), min(scaleX, scaleY))
    case .fill: (scaleX, scaleY) = (max(scaleX, scaleY), max(scaleX, scaleY))
    case .stretch: break
    }
    // The picture's left top corner: both have the same middle.
    let left = x + (width - wide * scaleX) / 2
    let top = y + (height - high * scaleY) / 2
    guard scaleX > 0, scaleY > 0,
      let columns = Self.pixels(
        from: max(x, left), to: min(x + width, left + wide * scaleX), limit: size.width),
      let rows = Self.pixels(
        from: max(y, top), to: min(y + height, top + high * scaleY), limit: size.height)
    else { return nil }
    self.rect = PixelRect(x: columns, y: rows)
    if scaleX == 1, scaleY == 1, left == 0, top == 0, columns.count == image.size.width,
      rows.count == image.size.height
    {
      self.raster = source
      self.owner = image
      return
    }
    let placed = FrameSize(width: columns.count, height: rows.count)
    // A part of a frame is no larger than a frame.
    guard let layout = try? FrameLayout(aligned: .rgba8, size: placed) else { return nil }
    let raster = Raster(layout: layout, depth: .deep, pool: BufferPool(maxIdleBytes: 0))
    let resampler = PlaneResampler(
      source: PlaneShape.planes(.rgba8, image.size)[0],
      horizontal: ResampleAxis(
        source: image.size.width, count: placed.width,
        origin: (Double(columns.lowerBound) - left) / scaleX, step: 1 / scaleX),
      vertical: ResampleAxis(
        source: image.size.height, count: placed.height,
        origin: (Double(rows.lowerBound) - top) / scaleY, step: 1 / scaleY))
    unsafe resampler.run(0 ..< placed.height, from: source.view) { y, samples in
      unsafe raster.row(y).copyMemory(from: samples, byteCount: placed.width * 8)
    }
    self.raster = raster
    self.owner = nil
  }

  /// The pixels whose centres lie between two edges.
  private static func pixels(from low: Double, to high: Double, limit: Int) -> Range<Int>? {
    let lower = max((low - 0.5).rounded(.up), 0)
    let upper = min((high - 0.5).rounded(.up), Double(limit))
    return lower < upper ? Int(lower) ..< Int(upper) : nil
  }

  /// What the pixels hold in memory, in bytes.
  var byteCount: Int { self.rect.x.count * self.rect.y.count * 8 }

  /// Whether any of the strip's pixels is covered.
  func meets(_ strip: Strip) -> Bool { self.rect.meets(strip) }

  /// Fills a strip with the image's pixels at its place, premultiplied; transparent where there are
  /// none.
  func load(_ strip: Strip) {
    let inside =
      self.rect.y.contains(strip.y)
      ? self.rect.x.clamped(to: strip.x ..< strip.x + strip.count) : 0 ..< 0
    if inside.count < strip.count {
      unsafe strip.forEachChannel { channel in
        unsafe channel.update(repeating: 0, count: strip.count)
      }
    }
    guard !inside.isEmpty else { return }
    let start = inside.lowerBound - strip.x
    let place =
      unsafe self.raster.view.row(strip.y - self.rect.y.lowerBound)
      + (inside.lowerBound - self.rect.x.lowerBound) * 8
    unsafe sl_rows_current().pointee.load_rgba_i16(
      place, inside.count, strip.red + start, strip.green + start, strip.blue + start,
      strip.alpha + start)
  }

  /// The image at a pixel of the frame, premultiplied; transparent where there is none.
  func pixel(_ x: Int, _ y: Int) -> SIMD4<Double> {
    guard self.rect.x.contains(x), self.rect.y.contains(y) else { return .zero }
    let row = unsafe self.raster.view.row(y - self.rect.y.lowerBound)
      .assumingMemoryBound(to: Int16.self)
    let start = (x - self.rect.x.lowerBound) * 4
    return unsafe [
      Double(row[start]), Double(row[start + 1]), Double(row[start + 2]), Double(row[start + 3]),
    ] / (32 * 255)
  }
}
