import CKernels

/// The picture behind a matte: an image on a colour, in the format of the frames, as premultiplied
/// deep samples. Opaque frames get it composited on black.
@safe
final class MatteBackdrop: Sendable {
  private let raster: Raster
  private let isSolid: Bool

  /// The bytes of a backdrop, at most.
  static func byteCount(_ size: FrameSize) -> Int { size.width * size.height * 8 }

  /// Draws a backdrop.
  ///
  /// - Parameters:
  ///   - image: An image that is placed in frames of the geometry; `nil` for the colour alone.
  ///   - color: The colour behind the image.
  ///   - geometry: The geometry of pictures.
  init(image: PlacedImage?, color: RGBAColor, geometry: FrameGeometry) {
    self.isSolid = image == nil
    var size = geometry.size
    if image == nil { size.height = min(2, size.height) }
    // A part of a frame is no larger than a frame.
    guard let layout = try? FrameLayout(aligned: geometry.format, size: size) else {
      preconditionFailure("no frame has the size \(size)")
    }
    self.raster = Raster(layout: layout, depth: .deep, pool: BufferPool(maxIdleBytes: 0))
    let rows = unsafe sl_rows_current().pointee
    let store = unsafe StripStore(self.raster.view, YUVConversion(geometry.color), rows)
    let memory = StripMemory(strips: 2)
    for y in stride(from: 0, to: size.height, by: store.rowsAtOnce) {
      for x in stride(from: 0, to: size.width, by: Strip.capacity) {
        let strips = (0 ..< min(store.rowsAtOnce, size.height - y)).map { row -> Strip in
          var strip = memory.strip(row, time: FrameTime())
          strip.x = x
          strip.y = y + row
          strip.count = min(Strip.capacity, size.width - x)
          Self.draw(image, on: color, strip)
          return strip
        }
        store.store(strips)
      }
    }
  }

  /// The definition of a backdrop's pixel: premultiplied.
  static func pixel(
    _ image: PlacedImage?, _ color: RGBAColor, x: Int, y: Int
  ) -> SIMD4<Double> {
    let behind =
      SIMD4(color.red, color.green, color.blue, 1)
      * SIMD4(repeating: color.alpha)
    let front = image?.pixel(x, y) ?? .zero
    return front + behind * (1 - front.w)
  }

  private static func draw(_ image: PlacedImage?, on color: RGBAColor, _ strip: Strip) {
    let alpha = Float(color.alpha)
    if let image {
      image.load(strip)
    } else {
      unsafe strip.forEachChannel { unsafe $0.update(repeating: 0, count: strip.count) }
    }
    for index in 0 ..< strip.count {
      let share = unsafe alpha * (1 - strip.alpha[index])
      unsafe strip.red[index] += share * Float(color.red)
      unsafe strip.green[index] += share * Float(color.green)
      unsafe strip.blue[index] += share * Float(color.blue)
      unsafe strip.alpha[index] += share
    }
  }

  /// The samples of a plane's row.
  func row(_ y: Int, plane: Int) -> UnsafePointer<Int16> {
    let row = unsafe self.raster.view.row(self.isSolid ? 0 : y, plane: plane)
    return unsafe UnsafePointer(row.assumingMemoryBound(to: Int16.self))
  }
}
