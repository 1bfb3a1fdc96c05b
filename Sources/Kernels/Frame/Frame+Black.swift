import CKernels

extension Frame {
  /// Returns the frame on black, with the same geometry and an alpha of 255; the frame itself if
  /// its format doesn't have alpha, or all of its pixels are opaque.
  ///
  /// A fourth channel that is declared to be ignored (``AlphaMode/opaque``) becomes 255 too.
  package func onBlack(in pool: BufferPool) -> Frame {
    guard self.format.hasAlpha, !self.hasOpaquePixelsOnly else { return self }
    // The size of an existing frame is valid.
    guard let result = try? pool.makeFrame(self.geometry, orientation: self.orientation) else {
      preconditionFailure("no frame has the geometry \(self.geometry)")
    }
    let rows = unsafe sl_rows_current().pointee
    let (width, strides) = (self.size.width, (self.layout.planes[0], result.layout.planes[0]))
    for y in 0 ..< self.size.height {
      let source = unsafe self.baseAddress(plane: 0) + y * strides.0.stride
      let target = unsafe result.baseAddress(plane: 0) + y * strides.1.stride
      let isWritten =
        unsafe self.color.alpha == .straight && rows.premultiply_pixels(source, width, target) != 0
      if !isWritten { unsafe target.update(from: source, count: 4 * width) }
      unsafe rows.set_opaque(target, width)
    }
    return result.finish()
  }

  /// Whether every pixel's fourth channel is 255.
  private var hasOpaquePixelsOnly: Bool {
    let stride = self.layout.planes[0].stride
    for y in 0 ..< self.size.height {
      let row = unsafe self.baseAddress(plane: 0) + y * stride
      var all: UInt8 = 255
      for x in 0 ..< self.size.width { all &= unsafe row[4 * x + 3] }
      guard all == 255 else { return false }
    }
    return true
  }
}
