import CKernels

/// Reads and writes strips of a 4:2:0 raster.
@safe
struct YUVRows {
  private let raster: RasterView
  private let conversion: YUVConversion
  private let loadRow: sl_load_yuv
  private let lumaRow: sl_store_luma
  private let chromaRow: sl_store_chroma

  init(_ raster: RasterView, _ conversion: YUVConversion, _ rows: sl_rows) {
    self.raster = raster
    self.conversion = conversion
    switch raster.depth {
    case .eight:
      unsafe self.loadRow = rows.load_yuv_u8
      unsafe self.lumaRow = rows.store_luma_u8
      unsafe self.chromaRow = rows.store_chroma_u8
    case .deep:
      unsafe self.loadRow = rows.load_yuv_i16
      unsafe self.lumaRow = rows.store_luma_i16
      unsafe self.chromaRow = rows.store_chroma_i16
    }
  }

  /// Fills the strip's colour from its place; alpha is 1.
  func load(_ strip: Strip) {
    let (u, v, step) = unsafe self.chroma(x: strip.x, y: strip.y)
    var conversion = self.conversion.toRGB
    unsafe self.loadRow(
      self.luma(x: strip.x, y: strip.y), u, v, step, strip.count, &conversion, strip.red,
      strip.green, strip.blue)
    unsafe strip.alpha.update(repeating: 1, count: strip.count)
  }

  /// Writes the strip's luma to its place.
  func storeLuma(_ strip: Strip) {
    var conversion = self.conversion.fromRGB
    unsafe self.lumaRow(
      strip.red, strip.green, strip.blue, strip.count, &conversion,
      self.luma(x: strip.x, y: strip.y))
  }

  /// Writes the chroma of two rows, or of one given twice, to their place.
  func storeChroma(_ first: Strip, _ second: Strip) {
    let (u, v, step) = unsafe self.chroma(x: first.x, y: first.y)
    var conversion = self.conversion.fromRGB
    unsafe self.chromaRow(
      first.red, first.green, first.blue, second.red, second.green, second.blue, first.count,
      &conversion, step, u, v)
  }

  private func luma(x: Int, y: Int) -> UnsafeMutableRawPointer {
    unsafe self.raster.row(y) + x * self.raster.depth.byteCount
  }

  private func chroma(
    x: Int, y: Int
  ) -> (u: UnsafeMutableRawPointer, v: UnsafeMutableRawPointer, step: Int) {
    let bytes = self.raster.depth.byteCount
    if self.raster.format == .nv12 {
      let row = unsafe self.raster.row(y / 2, plane: 1) + x * bytes
      return unsafe (row, row + bytes, 2)
    }
    let place = x / 2 * bytes
    return unsafe (
      self.raster.row(y / 2, plane: 1) + place, self.raster.row(y / 2, plane: 2) + place, 1
    )
  }
}
