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
