import SidelightKernels

extension FrameLayout {
  /// An `i420` layout whose luma plane has room for rows and columns up to the next even size: the
  /// library reads and writes whole pairs.
  ///
  /// - Throws: ``FrameLayoutError`` for a size that no frame can have.
  static func evenLuma(size: FrameSize) throws(FrameLayoutError) -> FrameLayout {
    let aligned = try FrameLayout(aligned: .i420, size: size)
    // Strides are even already, being multiples of 64; rows may have to be added.
    let rows = (size.height + 1) & ~1
    let chroma = aligned.planes[1].stride * (rows / 2)
    let planes = [
      PlaneLayout(offset: 0, stride: aligned.planes[0].stride),
      PlaneLayout(offset: aligned.planes[0].stride * rows, stride: aligned.planes[1].stride),
      PlaneLayout(
        offset: aligned.planes[0].stride * rows + chroma, stride: aligned.planes[2].stride),
    ]
    return try FrameLayout(
      format: .i420, size: size, planes: planes, available: planes[2].offset + chroma)
  }
}
