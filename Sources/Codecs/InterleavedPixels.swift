import SidelightKernels

/// A picture in the layout of the libraries for still images: one plane of whole pixels.
@safe
struct InterleavedPixels {
  /// The samples of one pixel, in memory order.
  enum Order {
    case gray, rgb, rgba, bgra

    /// The number of bytes per pixel.
    var byteCount: Int {
      switch self {
      case .gray: 1
      case .rgb: 3
      case .rgba, .bgra: 4
      }
    }
  }

  /// The samples of one pixel.
  let order: Order
  /// The first pixel; valid only during the call that received the value.
  let base: UnsafePointer<UInt8>
  /// The distance between rows, in bytes.
  let stride: Int
}

extension Frame {
  /// Calls a function with the frame as interleaved pixels: the frame's bytes if a library can read
  /// them unchanged, else converted ones.
  ///
  /// - Parameter keepingAlpha: Whether the caller needs alpha. If so, premultiplied alpha is
  ///   converted to straight alpha, and pixels of an opaque frame are without alpha. Otherwise the
  ///   fourth byte of a pixel is unspecified.
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

  /// Returns the order of the samples and the converted bytes without padding. `nil` if the frame's
  /// bytes can be used.
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
      // Cr has a separate plane, or follows Cb.
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

  /// Returns a picture without padding, which a function fills row by row.
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

/// Converts rows of YUV samples to RGB, using fixed point with 16 fractional bits.
///
/// With Y' = ys (Y - y0), U' = cs (U - 128), V' = cs (V - 128):
///
///     R = Y' + 2 (1 - Kr) V'
///     B = Y' + 2 (1 - Kb) U'
///     G = Y' - 2 (1 - Kb) Kb / Kg U' - 2 (1 - Kr) Kr / Kg V'
///
/// where Kg = 1 - Kr - Kb; video range has y0 = 16, ys = 255 / 219, cs = 255 / 224, full range y0 =
/// 0, ys = cs = 1 (ITU-R BT.601-7 section 2.5, BT.709-6 section 3). Results are rounded to nearest
/// and clamped. A chroma sample applies to its 2 x 2 pixels, without interpolation.
private struct YUVToRGB {
  private let lumaZero: Int32
  private let lumaScale: Int32
  private let redFromV: Int32
  private let greenFromU: Int32
  private let greenFromV: Int32
  private let blueFromU: Int32

  init(_ color: ColorDescription) {
    let (kr, kb) =
      switch color.matrix {
      case .bt601: (0.299, 0.114)
      case .bt709: (0.2126, 0.0722)
      }
    let kg = 1 - kr - kb
    let (zero, lumaScale, chromaScale): (Int32, Double, Double) =
      switch color.range {
      case .video: (16, 255.0 / 219, 255.0 / 224)
      case .full: (0, 1, 1)
      }
    func fixed(_ value: Double) -> Int32 { Int32((value * 65536).rounded()) }
    self.lumaZero = zero
    self.lumaScale = fixed(lumaScale)
    self.redFromV = fixed(2 * (1 - kr) * chromaScale)
    self.greenFromU = fixed(-2 * (1 - kb) * kb / kg * chromaScale)
    self.greenFromV = fixed(-2 * (1 - kr) * kr / kg * chromaScale)
    self.blueFromU = fixed(2 * (1 - kb) * chromaScale)
  }

  /// Converts one pixel.
  func convert(y: UInt8, u: UInt8, v: UInt8) -> (red: UInt8, green: UInt8, blue: UInt8) {
    let u = Int32(u) - 128
    let v = Int32(v) - 128
    // Luma includes the half that rounds to nearest. No sum overflows: the largest is below 2^26.
    let luma = (Int32(y) - self.lumaZero) &* self.lumaScale &+ 32768
    return (
      Self.clamp(luma &+ self.redFromV &* v),
      Self.clamp(luma &+ self.greenFromU &* u &+ self.greenFromV &* v),
      Self.clamp(luma &+ self.blueFromU &* u)
    )
  }

  /// Converts one row.
  ///
  /// - Parameters:
  ///   - y: The luma samples of the row.
  ///   - u: The first Cb sample of the chroma row.
  ///   - v: The first Cr sample of the chroma row.
  ///   - chromaStep: The distance between chroma samples, in bytes: 1 in planes, 2 interleaved.
  ///   - width: The number of pixels.
  ///   - rgb: The result, `3 * width` bytes.
  func convertRow(
    y: UnsafePointer<UInt8>, u: UnsafePointer<UInt8>, v: UnsafePointer<UInt8>, chromaStep: Int,
    width: Int, into rgb: UnsafeMutablePointer<UInt8>
  ) {
    for x in 0 ..< width {
      let chroma = (x >> 1) &* chromaStep
      let pixel = unsafe self.convert(y: y[x], u: u[chroma], v: v[chroma])
      unsafe rgb[3 &* x] = pixel.red
      unsafe rgb[3 &* x &+ 1] = pixel.green
      unsafe rgb[3 &* x &+ 2] = pixel.blue
    }
  }

  private static func clamp(_ value: Int32) -> UInt8 {
    UInt8(truncatingIfNeeded: max(0, min(255, value >> 16)))
  }
}
