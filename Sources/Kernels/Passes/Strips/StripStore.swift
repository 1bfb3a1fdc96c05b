package import CKernels

/// Reads and writes strips of a raster of any format.
package struct StripStore {
  private enum Rows {
    case pixels(PixelRows)
    case yuv(YUVRows)
  }

  private let rows: Rows
  /// The number of rows that must be written together: 2 if they share chroma.
  package let rowsAtOnce: Int

  package init(_ raster: RasterView, _ conversion: YUVConversion, _ rows: sl_rows) {
    if raster.format.isYUV {
      self.rows = unsafe .yuv(YUVRows(raster, conversion, rows))
      self.rowsAtOnce = 2
    } else {
      self.rows = unsafe .pixels(PixelRows(raster, rows))
      self.rowsAtOnce = 1
    }
  }

  /// Fills the strip from its position in the raster.
  package func load(_ strip: Strip) {
    switch self.rows {
    case .pixels(let rows): rows.load(strip)
    case .yuv(let rows): rows.load(strip)
    }
  }

  /// Fills the strip from its position in the raster, through a function per channel.
  ///
  /// - Returns: Whether the format allows it; otherwise the strip does not change.
  func load(_ strip: Strip, through curves: ByteCurves) -> Bool {
    guard case .pixels(let rows) = self.rows else { return false }
    return rows.load(strip, through: curves)
  }

  /// Writes a strip, and the optional strip below it that shares its chroma.
  package func store(_ first: Strip, _ second: Strip?) {
    switch self.rows {
    case .pixels(let rows): rows.store(first)
    case .yuv(let rows):
      rows.storeLuma(first)
      if let second { rows.storeLuma(second) }
      rows.storeChroma(first, second ?? first)
    }
  }

  /// Writes vertically adjacent strips: one, or the two that share chroma.
  package func store(_ strips: [Strip]) {
    switch self.rows {
    case .pixels(let rows):
      for strip in strips { rows.store(strip) }
    case .yuv(let rows):
      for strip in strips { rows.storeLuma(strip) }
      rows.storeChroma(strips[0], strips[strips.count - 1])
    }
  }
}

/// Reads and writes strips of a raster with interleaved channels.
@safe
struct PixelRows {
  private let raster: RasterView
  private let loadRow: sl_load_pixels
  private let storeRow: sl_store_pixels
  /// Whether a byte of a pixel is red (0), green (1) or blue (2), for all bytes of a four-byte
  /// pixel. A tuple, because the struct is copied for every strip and must not count references.
  private let colors: (Int, Int, Int)?
  private let pixelBytes: Int

  init(_ raster: RasterView, _ rows: sl_rows) {
    self.raster = raster
    let hasCurves = raster.depth == .eight && raster.format.hasAlpha
    let order = hasCurves ? PixelOrder.colors(of: raster.format) : nil
    self.colors = order.map { ($0[0], $0[1], $0[2]) }
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
      case (.i420, _), (.nv12, _): preconditionFailure("YUV is loaded and stored by separate rows")
      }
  }

  /// Fills the strip from its position in the raster.
  func load(_ strip: Strip) {
    unsafe self.loadRow(
      self.address(strip), strip.count, strip.red, strip.green, strip.blue, strip.alpha)
  }

  /// Fills the strip from its position in the raster, through a function per channel.
  ///
  /// - Returns: Whether pixels have four bytes; otherwise the strip does not change.
  func load(_ strip: Strip, through curves: ByteCurves) -> Bool {
    guard let colors = self.colors else { return false }
    let tables = unsafe (
      curves.table(colors.0), curves.table(colors.1), curves.table(colors.2)
    )
    unsafe withUnsafePointer(to: tables) {
      unsafe $0.withMemoryRebound(to: UnsafePointer<Float>.self, capacity: 3) {
        unsafe sl_rows_current().pointee.load_curves_u8(
          self.address(strip), strip.count, $0, strip.red, strip.green, strip.blue, strip.alpha)
      }
    }
    return true
  }

  /// Writes the strip to its position in the raster.
  func store(_ strip: Strip) {
    unsafe self.storeRow(
      strip.red, strip.green, strip.blue, strip.alpha, strip.count, self.address(strip))
  }

  private func address(_ strip: Strip) -> UnsafeMutableRawPointer {
    unsafe self.raster.row(strip.y) + strip.x * self.pixelBytes
  }
}

/// Reads and writes strips of a 4:2:0 raster.
@safe
struct YUVRows {
  private let raster: RasterView
  private let conversion: YUVConversion
  private let loadRow: sl_load_yuv
  private let lumaRow: sl_store_luma
  private let chromaRow: sl_store_chroma

  package init(_ raster: RasterView, _ conversion: YUVConversion, _ rows: sl_rows) {
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

  /// Fills the strip's colour from its position in the raster; alpha is 1.
  func load(_ strip: Strip) {
    let (u, v, step) = unsafe self.chroma(x: strip.x, y: strip.y)
    var conversion = self.conversion.toRGB
    unsafe self.loadRow(
      self.luma(x: strip.x, y: strip.y), u, v, step, strip.count, &conversion, strip.red,
      strip.green, strip.blue)
    unsafe strip.alpha.update(repeating: 1, count: strip.count)
  }

  /// Writes the strip's luma to its position in the raster.
  func storeLuma(_ strip: Strip) {
    var conversion = self.conversion.fromRGB
    unsafe self.lumaRow(
      strip.red, strip.green, strip.blue, strip.count, &conversion,
      self.luma(x: strip.x, y: strip.y))
  }

  /// Writes the chroma of two rows, or of one row passed twice, to its position in the raster.
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
    let address = x / 2 * bytes
    return unsafe (
      self.raster.row(y / 2, plane: 1) + address, self.raster.row(y / 2, plane: 2) + address, 1
    )
  }
}
