/// Where the rows of a raster are: plain figures and addresses. Rows are asked for by many threads at
/// once, and an array or an object on that path would have them all fight for its reference count.
@safe
package struct RasterView: @unchecked Sendable {  // used only while its raster lives
  /// The layout of samples.
  package let format: PixelFormat
  /// The size in pixels.
  package let size: FrameSize
  /// How each sample is stored.
  package let depth: SampleDepth
  private let bases: (UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer)
  private let strides: (Int, Int, Int)

  init(
    _ buffer: PixelBuffer, _ planes: [PlaneLayout], format: PixelFormat, size: FrameSize,
    depth: SampleDepth
  ) {
    self.format = format
    self.size = size
    self.depth = depth
    let start = unsafe buffer.bytes.baseAddress.unsafelyUnwrapped
    // For a plane that the format does not have, its last stands in.
    let all = (0 ..< 3).map { planes[min($0, planes.count - 1)] }
    unsafe self.bases = (start + all[0].offset, start + all[1].offset, start + all[2].offset)
    self.strides = (all[0].stride, all[1].stride, all[2].stride)
  }

  /// The first byte of a row. What lies there may be written only by the pass whose output this is,
  /// and by one band at a time.
  @inline(__always)
  package func row(_ row: Int, plane: Int = 0) -> UnsafeMutableRawPointer {
    switch plane {
    case 0: unsafe self.bases.0 + row * self.strides.0
    case 1: unsafe self.bases.1 + row * self.strides.1
    default: unsafe self.bases.2 + row * self.strides.2
    }
  }
}
