import SidelightKernels

extension Frame {
  /// Returns the frame as `i420` with luma up to the next even size, as libjpeg-turbo reads it.
  /// Added samples repeat the edge: equal frames give equal files.
  ///
  /// - Precondition: The frame is `i420` or `nv12`.
  /// - Throws: ``CodecError`` for a size that is invalid for frames.
  func evenPlanes(pool: BufferPool) throws(CodecError) -> Frame {
    precondition(self.format.isYUV, "the frame has no planes of chroma")
    let result: MutableFrame
    do {
      result = pool.makeFrame(layout: try .evenLuma(size: self.size), color: self.color)
    } catch {
      throw CodecError(.failed, error.description)
    }
    let (width, height) = (self.size.width, self.size.height)
    let luma = result.layout.planes[0].stride
    for row in 0 ..< (height + 1) & ~1 {
      let source = unsafe self.baseAddress(plane: 0) + min(row, height - 1) * self.stride(0)
      let target = unsafe result.baseAddress(plane: 0) + row * luma
      unsafe target.update(from: source, count: width)
      if !width.isMultiple(of: 2) { unsafe target[width] = source[width - 1] }
    }
    let columns = (width + 1) / 2
    for row in 0 ..< (height + 1) / 2 {
      let u = unsafe result.baseAddress(plane: 1) + row * result.layout.planes[1].stride
      let v = unsafe result.baseAddress(plane: 2) + row * result.layout.planes[2].stride
      let source = unsafe self.baseAddress(plane: 1) + row * self.stride(1)
      if self.format == .nv12 {
        for column in 0 ..< columns {
          unsafe u[column] = source[2 &* column]
          unsafe v[column] = source[2 &* column &+ 1]
        }
      } else {
        unsafe u.update(from: source, count: columns)
        unsafe v.update(from: self.baseAddress(plane: 2) + row * self.stride(2), count: columns)
      }
    }
    extendLifetime(self)
    return result.finish()
  }

  private func stride(_ plane: Int) -> Int { self.layout.planes[plane].stride }
}

extension FrameLayout {
  /// Returns an `i420` layout whose luma plane fits rows and columns up to the next even size,
  /// since libjpeg-turbo reads and writes whole pairs.
  ///
  /// - Throws: ``FrameLayoutError`` for a size that is invalid for frames.
  static func evenLuma(size: FrameSize) throws(FrameLayoutError) -> FrameLayout {
    let aligned = try FrameLayout(aligned: .i420, size: size)
    // Strides are multiples of 64 and therefore even; a row may be missing.
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
