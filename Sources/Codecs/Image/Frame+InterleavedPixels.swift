import SidelightKernels

extension Frame {
  /// Gives the frame as interleaved pixels: its own, where a library can take them as they lie, or
  /// else converted ones.
  ///
  /// - Parameter keepingAlpha: Whether alpha matters to the caller. Then it is made straight, and a
  ///   frame whose alpha is to be ignored comes without it. Otherwise the fourth byte is there to
  ///   be skipped.
  func withInterleavedPixels<Result>(
    keepingAlpha: Bool, _ body: (InterleavedPixels) throws(CodecError) -> Result
  ) throws(CodecError) -> Result {
    let (order, converted) = self.convertedPixels(keepingAlpha: keepingAlpha)
    guard let converted else {
      defer { withExtendedLifetime(self) {} }
      return try body(
        unsafe InterleavedPixels(
          order: order, base: self.baseAddress(plane: 0), stride: self.layout.planes[0].stride))
    }
    let stride = order.byteCount * self.size.width
    return try unsafe converted.withUnsafeBufferPointer { bytes throws(CodecError) in
      try body(
        unsafe InterleavedPixels(
          order: order, base: bytes.baseAddress.unsafelyUnwrapped, stride: stride))
    }
  }

  /// The order that the frame is given in, and the converted bytes without padding; `nil` if the
  /// frame's own bytes serve.
  private func convertedPixels(
    keepingAlpha: Bool
  ) -> (order: InterleavedPixels.Order, bytes: [UInt8]?) {
    switch (self.format, self.color.alpha) {
    case (.gray8, _): (.gray, nil)
    case (.rgb24, _): (.rgb, nil)
    case (.i420, _), (.nv12, _): (.rgb, self.convertedFromYUV())
    case (.rgba8, .opaque) where keepingAlpha: (.rgb, self.withoutAlpha(redFirst: true))
    case (.bgra8, .opaque) where keepingAlpha: (.rgb, self.withoutAlpha(redFirst: false))
    case (.rgba8, .premultiplied) where keepingAlpha: (.rgba, self.unpremultiplied())
    case (.bgra8, .premultiplied) where keepingAlpha: (.bgra, self.unpremultiplied())
    case (.rgba8, _): (.rgba, nil)
    case (.bgra8, _): (.bgra, nil)
    }
  }

  private func convertedFromYUV() -> [UInt8] {
    let convert = YUVToRGB(self.color)
    let planes = self.layout.planes
    let isPlanar = self.format == .i420
    return unsafe self.convertedRows(bytesPerPixel: 3) { row, rgb in
      let chromaRow = row / 2 * planes[1].stride
      let y = unsafe self.baseAddress(plane: 0) + row * planes[0].stride
      let u = unsafe self.baseAddress(plane: 1) + chromaRow
      // Cr has a plane and a stride of its own, or follows Cb.
      let v = unsafe isPlanar ? self.baseAddress(plane: 2) + row / 2 * planes[2].stride : u + 1
      unsafe convert.convertRow(
        y: y, u: u, v: v, chromaStep: isPlanar ? 1 : 2, width: self.size.width, into: rgb)
    }
  }

  private func withoutAlpha(redFirst: Bool) -> [UInt8] {
    let stride = self.layout.planes[0].stride
    let red = redFirst ? 0 : 2
    return unsafe self.convertedRows(bytesPerPixel: 3) { row, rgb in
      let pixels = unsafe self.baseAddress(plane: 0) + row * stride
      for x in 0 ..< self.size.width {
        unsafe rgb[3 &* x] = pixels[4 &* x &+ red]
        unsafe rgb[3 &* x &+ 1] = pixels[4 &* x &+ 1]
        unsafe rgb[3 &* x &+ 2] = pixels[4 &* x &+ 2 &- red]
      }
    }
  }

  /// Colour = min(255, premultiplied * 255 / alpha), rounded to nearest; 0 where alpha is 0.
  private func unpremultiplied() -> [UInt8] {
    let stride = self.layout.planes[0].stride
    return unsafe self.convertedRows(bytesPerPixel: 4) { row, straight in
      let pixels = unsafe self.baseAddress(plane: 0) + row * stride
      for x in 0 ..< self.size.width {
        let alpha = unsafe UInt32(pixels[4 &* x &+ 3])
        for channel in 0 ..< 3 {
          let value = unsafe UInt32(pixels[4 &* x &+ channel])
          let divided = alpha == 0 ? 0 : min(255, (value &* 255 &+ alpha / 2) / alpha)
          unsafe straight[4 &* x &+ channel] = UInt8(truncatingIfNeeded: divided)
        }
        unsafe straight[4 &* x &+ 3] = UInt8(truncatingIfNeeded: alpha)
      }
    }
  }

  /// Fills a packed picture row by row.
  private func convertedRows(
    bytesPerPixel: Int, _ convert: (_ row: Int, _ into: UnsafeMutablePointer<UInt8>) -> Void
  ) -> [UInt8] {
    let stride = bytesPerPixel * self.size.width
    let count = stride * self.size.height
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
      let base = unsafe bytes.baseAddress.unsafelyUnwrapped
      for row in 0 ..< self.size.height {
        unsafe convert(row, base + row * stride)
      }
      initialized = count
      withExtendedLifetime(self) {}
    }
  }
}
