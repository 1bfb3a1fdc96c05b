import CKernels

/// Reads and writes strips of a raster of any format.
struct StripPort {
  private enum Rows {
    case pixels(PixelRows)
    case yuv(YUVRows)
  }

  private let rows: Rows
  /// How many rows must be written together: 2 where they share chroma.
  let rowsAtOnce: Int

  init(_ raster: RasterView, _ conversion: YUVConversion, _ rows: sl_rows) {
    if raster.format.isYUV {
      self.rows = unsafe .yuv(YUVRows(raster, conversion, rows))
      self.rowsAtOnce = 2
    } else {
      self.rows = unsafe .pixels(PixelRows(raster, rows))
      self.rowsAtOnce = 1
    }
  }

  /// Fills the strip from its place.
  func load(_ strip: Strip) {
    switch self.rows {
    case .pixels(let rows): rows.load(strip)
    case .yuv(let rows): rows.load(strip)
    }
  }

  /// Writes a strip, and the one below it that shares its chroma if there is one.
  func store(_ first: Strip, _ second: Strip?) {
    switch self.rows {
    case .pixels(let rows): rows.store(first)
    case .yuv(let rows):
      rows.storeLuma(first)
      if let second { rows.storeLuma(second) }
      rows.storeChroma(first, second ?? first)
    }
  }

  /// Writes strips that lie below each other: one, or the two that share chroma.
  func store(_ strips: [Strip]) {
    switch self.rows {
    case .pixels(let rows):
      for strip in strips { rows.store(strip) }
    case .yuv(let rows):
      for strip in strips { rows.storeLuma(strip) }
      rows.storeChroma(strips[0], strips[strips.count - 1])
    }
  }
}
