package import CKernels
import Synchronization

/// An image resampled for frames of one size: created with a plan, and read for every frame.
/// ``ImageAsset/placed(x:y:width:height:fit:in:_:)`` shares it among plans.
package final class PlacedImage: Sendable {
  /// Premultiplied red, green, blue and alpha of the pixels in ``rect``.
  private let raster: Raster
  /// The pixels of the frame that the image covers.
  package let rect: PixelRect
  /// The image, if the raster belongs to it.
  private let owner: ImageAsset?

  /// Places an image in a rectangle of a frame.
  ///
  /// Where the image grows it is interpolated linearly; where it shrinks, a pixel is the mean of
  /// the covered area. Pixels with a centre outside the rectangle, or outside the fitted picture,
  /// are not covered.
  ///
  /// - Parameters:
  ///   - x: The rectangle's left edge in pixels.
  ///   - y: Its top edge.
  ///   - fit: The fit of the image into the rectangle.
  ///   - space: The space in which the image is composited.
  /// - Returns: `nil` if the image doesn't cover pixels.
  package init?(
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
    // The fitted picture's top left corner: picture and rectangle have the same centre.
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
    // A part of a frame is at most as large as the frame.
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

  /// The pixels with centres between two edges.
  private static func pixels(from low: Double, to high: Double, limit: Int) -> Range<Int>? {
    let lower = max((low - 0.5).rounded(.up), 0)
    let upper = min((high - 0.5).rounded(.up), Double(limit))
    return lower < upper ? Int(lower) ..< Int(upper) : nil
  }

  /// The memory of the pixels, in bytes.
  package var byteCount: Int { self.rect.x.count * self.rect.y.count * 8 }

  /// The number of pixels.
  package var size: FrameSize {
    FrameSize(width: self.rect.x.count, height: self.rect.y.count)
  }

  /// The pixels for kernel programs; valid while the object lives.
  package var picture: sl_kernel_picture { unsafe self.raster.view.kernelPicture }

  /// Whether any of the strip's pixels is covered.
  package func intersects(_ strip: Strip) -> Bool { self.rect.intersects(strip) }

  /// Fills a strip with the image's premultiplied pixels; transparent outside the image.
  package func load(_ strip: Strip) {
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
    let pixels =
      unsafe self.raster.view.row(strip.y - self.rect.y.lowerBound)
      + (inside.lowerBound - self.rect.x.lowerBound) * 8
    unsafe sl_rows_current().pointee.load_rgba_i16(
      pixels, inside.count, strip.red + start, strip.green + start, strip.blue + start,
      strip.alpha + start)
  }

  /// The image's premultiplied pixel at a position in the frame; transparent outside the image.
  package func pixel(_ x: Int, _ y: Int) -> SIMD4<Double> {
    guard self.rect.x.contains(x), self.rect.y.contains(y) else { return .zero }
    let row = unsafe self.raster.view.row(y - self.rect.y.lowerBound)
      .assumingMemoryBound(to: Int16.self)
    let start = (x - self.rect.x.lowerBound) * 4
    return unsafe [
      Double(row[start]), Double(row[start + 1]), Double(row[start + 2]), Double(row[start + 3]),
    ] / (32 * 255)
  }
}

/// The latest placements of an image in frames. A change of another parameter (the opacity of a
/// sticker, for example) reuses them instead of resampling the image.
///
/// The cache holds weak references to a few placements; the plans that use them own them. An image
/// therefore costs at most its own pixels, for frames of any size.
final class ImagePlacements: Sendable {
  /// All that a placed image depends on.
  struct Key: Sendable, Hashable {
    let x, y, width, height: Double
    let fit: PictureFit
    let size: FrameSize
    let space: WorkingSpace
  }

  /// The maximum number of entries.
  static let capacity = 4

  private struct Entry {
    let key: Key
    weak var image: PlacedImage?
  }

  private struct State {
    var latest: [Entry] = []
    var count = 0
  }

  private let state = Mutex(State())

  /// How often the image was placed; a placement resamples the image or shares its pixels.
  var count: Int { self.state.withLock(\.count) }

  /// Returns the placed image for a key: the cached one, or a new one.
  ///
  /// - Parameter make: Creates the placed image, outside the lock; `nil` if it is outside the
  ///   frame.
  func image(_ key: Key, make: () -> PlacedImage?) -> PlacedImage? {
    let found = self.state.withLock { state -> PlacedImage? in
      state.latest.removeAll { $0.image == nil }
      guard let index = state.latest.firstIndex(where: { $0.key == key }) else { return nil }
      let entry = state.latest.remove(at: index)
      state.latest.append(entry)
      return entry.image
    }
    if let found { return found }
    guard let image = make() else { return nil }
    self.state.withLock { state in
      if state.latest.count == Self.capacity { state.latest.removeFirst() }
      state.latest.append(Entry(key: key, image: image))
      state.count += 1
    }
    return image
  }
}

extension ImageAsset {
  /// How often the image was placed in frames. Plans that differ in other parameters share a
  /// placement.
  package var placementCount: Int { self.placements.count }

  /// The image placed in a rectangle of frames of a size, in a working space.
  ///
  /// - Returns: `nil` if the image is outside the frame.
  package func placed(
    x: Double, y: Double, width: Double, height: Double, fit: PictureFit, in size: FrameSize,
    _ space: WorkingSpace
  ) -> PlacedImage? {
    let key = ImagePlacements.Key(
      x: x, y: y, width: width, height: height, fit: fit, size: size, space: space)
    return self.placements.image(key) {
      PlacedImage(self, x: x, y: y, width: width, height: height, fit: fit, in: size, space)
    }
  }
}
