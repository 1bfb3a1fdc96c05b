import CKernels

/// Reads and writes strips of a raster that is not YUV.
@safe
struct PixelRows {
  private let raster: RasterView
  private let loadRow: sl_load_pixels
  private let storeRow: sl_store_pixels
  private let pixelBytes: Int

  init(_ raster: RasterView, _ rows: sl_rows) {
    self.raster = raster
    self.pixelBytes = raster.format.rowByteCount(plane: 0, width: 1) * raster.depth.byteCount
    unsafe (self.loadRow, self.storeRow) =
      switch (raster.format, raster.depth) {
      case (.bgra8, .eight): unsafe (rows.load_bgra_u8, rows.store_bgra_u8)
      case (.bgra8, .deep): unsafe (rows.load_bgra_i16, rows.store_bgra_i16)
      case (.rgba8, .eight): unsafe (rows.load_rgba_u8, rows.store_rgba_u8)
      case (.rgba8, .deep): unsafe (rows.load_rgba_i16, rows.store_rgba_i16)
      case (.rgb24, .eight): unsafe (rows.load_rgb_u8, rows.store_rgb_u8)
      case (.rgb24, .deep): unsafe (rows.load_rgb_i16, rows.store_rgb_i16)
      case (.gray8, .eight): unsafe (rows.load_gray_u8, rows.store_gray_u8)
      case (.gray8, .deep): unsafe (rows.load_gray_i16, rows.store_gray_i16)
      case (.i420, _), (.nv12, _): preconditionFailure("YUV has rows of its own")
      }
  }

  /// Fills the strip from its place.
  func load(_ strip: Strip) {
    unsafe self.loadRow(
      self.place(strip), strip.count, strip.red, strip.green, strip.blue, strip.alpha)
  }

  /// Writes the strip to its place.
  func store(_ strip: Strip) {
    unsafe self.storeRow(
      strip.red, strip.green, strip.blue, strip.alpha, strip.count, self.place(strip))
  }

  private func place(_ strip: Strip) -> UnsafeMutableRawPointer {
    unsafe self.raster.row(strip.y) + strip.x * self.pixelBytes
  }
}
