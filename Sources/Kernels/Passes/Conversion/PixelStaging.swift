import CKernels

/// Rows of pixels as four bytes each: those of the raster, or, where it has three, a row of scratch
/// beside it. Owned by one band.
@safe
struct PixelStaging: ~Copyable {
  private let raster: RasterView
  private let scratch: UnsafeMutablePointer<UInt8>
  private let isThree: Bool

  init(_ raster: RasterView) {
    self.raster = raster
    self.isThree = raster.format == .rgb24
    unsafe self.scratch = .allocate(capacity: 4 * raster.size.width)
    unsafe self.scratch.initialize(repeating: 0, count: 4 * raster.size.width)
  }

  deinit {
    unsafe self.scratch.deallocate()
  }

  /// A row to be read.
  func input(_ y: Int, _ rows: sl_rows) -> UnsafePointer<UInt8> {
    let row = unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
    guard self.isThree else { return unsafe UnsafePointer(row) }
    unsafe rows.rgb_to_rgba(row, self.raster.size.width, self.scratch)
    return unsafe UnsafePointer(self.scratch)
  }

  /// Gives `body` a row to be written.
  func withOutput(
    _ y: Int, _ rows: sl_rows, _ body: (UnsafeMutablePointer<UInt8>) -> Void
  ) {
    let row = unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
    guard self.isThree else { return unsafe body(row) }
    unsafe body(self.scratch)
    unsafe rows.rgba_to_rgb(self.scratch, self.raster.size.width, row)
  }

  /// A row to be read, its colour multiplied by alpha.
  func premultiplied(_ y: Int, _ rows: sl_rows) -> UnsafePointer<UInt8> {
    let row = unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
    let changes = unsafe rows.premultiply_pixels(row, self.raster.size.width, self.scratch)
    return unsafe UnsafePointer(changes != 0 ? self.scratch : row)
  }
}
