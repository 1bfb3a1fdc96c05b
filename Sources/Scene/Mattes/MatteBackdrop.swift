import CKernels
package import SidelightKernels

/// A picture behind a matte, in the format of the frames, as premultiplied deep samples.
protocol MatteBackground: Sendable {
  /// Returns the source of rows for one band.
  func makeRows() -> any BackdropRows
}

/// A source of the rows behind a matte, owned by one band.
package protocol BackdropRows: AnyObject {
  /// Samples from one channel of a row of interleaved pixels to the next.
  var stride: Int { get }
  /// The samples of a plane's row; of interleaved formats, of its channels, ``stride`` apart. Valid
  /// until the next row of the plane is requested.
  func row(_ y: Int, plane: Int) -> UnsafePointer<Int16>
}

/// The picture behind a matte: an image on a colour, in the format of the frames, as premultiplied
/// deep samples. Opaque frames get it composited on black.
///
/// The channels of formats with interleaved pixels are planes, in their order in memory, which the
/// blend reads without shuffling. YUV formats have their own planes.
@safe
package final class MatteBackdrop: MatteBackground, BackdropRows,
  @unchecked Sendable  // immutable
{
  /// The planes of other formats.
  private let raster: Raster?
  /// The rows of interleaved formats, as consecutive channels.
  private let channels: UnsafeMutablePointer<Int16>?
  /// Samples from one channel of a row to the next.
  package let stride: Int
  private let step: Int
  private let isSolid: Bool

  /// The bytes of a backdrop, at most.
  package static func byteCount(_ size: FrameSize) -> Int { size.width * size.height * 8 }

  /// Draws a backdrop.
  ///
  /// - Parameters:
  ///   - image: An image that is placed in frames of the geometry; `nil` for the colour alone.
  ///   - color: The colour behind the image.
  ///   - geometry: The geometry of pictures.
  package init(image: PlacedImage?, color: RGBAColor, geometry: FrameGeometry) {
    self.isSolid = image == nil
    var size = geometry.size
    if image == nil { size.height = min(2, size.height) }
    let shape = PlaneShape.planes(geometry.format, size)[0]
    (self.step, self.stride) = (shape.step, shape.width)
    // A part of a frame is at most as large as the frame.
    guard let layout = try? FrameLayout(aligned: geometry.format, size: size) else {
      preconditionFailure("no frame has the size \(size)")
    }
    let raster = Raster(layout: layout, depth: .deep, pool: BufferPool(maxIdleBytes: 0))
    let rows = unsafe sl_rows_current().pointee
    let store = unsafe StripStore(raster.view, YUVConversion(geometry.color), rows)
    let memory = StripMemory(strips: 2)
    for y in Swift.stride(from: 0, to: size.height, by: store.rowsAtOnce) {
      for x in Swift.stride(from: 0, to: size.width, by: Strip.capacity) {
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
    guard shape.step >= 3 else {
      self.raster = raster
      unsafe self.channels = nil
      return
    }
    let channels = UnsafeMutablePointer<Int16>.allocate(capacity: shape.samples * size.height)
    for y in 0 ..< size.height {
      let row = unsafe raster.row(y).assumingMemoryBound(to: Int16.self)
      for channel in 0 ..< shape.step {
        let out = unsafe channels + (y * shape.step + channel) * shape.width
        for x in 0 ..< shape.width { unsafe out[x] = row[x * shape.step + channel] }
      }
    }
    self.raster = nil
    unsafe self.channels = channels
  }

  deinit {
    unsafe self.channels?.deallocate()
  }

  /// The definition of a backdrop's pixel: premultiplied.
  package static func pixel(
    _ image: PlacedImage?, _ color: RGBAColor, x: Int, y: Int
  ) -> SIMD4<Double> {
    let behind =
      SIMD4(color.red, color.green, color.blue, 1)
      * SIMD4(repeating: color.alpha)
    let front = image?.pixel(x, y) ?? .zero
    return front + behind * (1 - front.w)
  }

  package func makeRows() -> any BackdropRows { self }

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

  /// The samples of a plane's row; of interleaved formats, of its channels, ``stride`` apart.
  package func row(_ y: Int, plane: Int) -> UnsafePointer<Int16> {
    let y = self.isSolid ? 0 : y
    if let channels = unsafe self.channels {
      return unsafe UnsafePointer(channels + y * self.step * self.stride)
    }
    guard let raster else { preconditionFailure("a backdrop has planes or channels") }
    return unsafe UnsafePointer(
      raster.view.row(y, plane: plane).assumingMemoryBound(to: Int16.self))
  }
}
