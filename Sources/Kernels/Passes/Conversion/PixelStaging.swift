import CKernels

/// Rows of four-byte pixels: the raster's rows, or a scratch row if the raster has three bytes per
/// pixel. Owned by one band.
@safe
struct PixelStaging: ~Copyable {
  private let raster: RasterView
  private let scratch: UnsafeMutablePointer<UInt8>
  private let hasThreeBytes: Bool

  init(_ raster: RasterView) {
    self.raster = raster
    self.hasThreeBytes = raster.format == .rgb24
    unsafe self.scratch = .allocate(capacity: 4 * raster.size.width)
    unsafe self.scratch.initialize(repeating: 0, count: 4 * raster.size.width)
  }

  deinit {
    unsafe self.scratch.deallocate()
  }

  /// Returns a row to be read.
  func input(_ y: Int, _ rows: sl_rows) -> UnsafePointer<UInt8> {
    let row = unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
    guard self.hasThreeBytes else { return unsafe UnsafePointer(row) }
    unsafe rows.rgb_to_rgba(row, self.raster.size.width, self.scratch)
    return unsafe UnsafePointer(self.scratch)
  }

  /// Calls `body` with a row to be written.
  func withOutput(
    _ y: Int, _ rows: sl_rows, _ body: (UnsafeMutablePointer<UInt8>) -> Void
  ) {
    let row = unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
    guard self.hasThreeBytes else { return unsafe body(row) }
    unsafe body(self.scratch)
    unsafe rows.rgba_to_rgb(self.scratch, self.raster.size.width, row)
  }

  /// Returns a row to be read, with colour multiplied by alpha.
  func premultiplied(_ y: Int, _ rows: sl_rows) -> UnsafePointer<UInt8> {
    let row = unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
    let changes = unsafe rows.premultiply_pixels(row, self.raster.size.width, self.scratch)
    return unsafe UnsafePointer(changes != 0 ? self.scratch : row)
  }
}

/// The rows of a 4:2:0 raster of bytes.
@safe
struct FoldedChroma {
  private let raster: RasterView
  /// Bytes from one chroma sample to the next: 1 in I420, 2 in NV12.
  let step: Int

  init(_ raster: RasterView) {
    self.raster = raster
    self.step = raster.format == .nv12 ? 2 : 1
  }

  /// A row of luma.
  func luma(_ y: Int) -> UnsafeMutablePointer<UInt8> {
    unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
  }

  /// The chroma of a row of luma.
  func rows(_ y: Int) -> (u: UnsafeMutablePointer<UInt8>, v: UnsafeMutablePointer<UInt8>) {
    let u = unsafe self.raster.row(y / 2, plane: 1).assumingMemoryBound(to: UInt8.self)
    guard self.step == 1 else { return unsafe (u, u + 1) }
    return unsafe (u, self.raster.row(y / 2, plane: 2).assumingMemoryBound(to: UInt8.self))
  }
}
