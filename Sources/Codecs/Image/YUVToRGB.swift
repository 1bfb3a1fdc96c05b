import SidelightKernels

/// Converts rows of YUV samples to RGB, in fixed point with 16 fractional bits.
///
/// With Y' = ys (Y - y0), U' = cs (U - 128), V' = cs (V - 128):
///
///     R = Y' + 2 (1 - Kr) V'
///     B = Y' + 2 (1 - Kb) U'
///     G = Y' - 2 (1 - Kb) Kb / Kg U' - 2 (1 - Kr) Kr / Kg V'
///
/// where Kg = 1 - Kr - Kb; video range has y0 = 16, ys = 255 / 219, cs = 255 / 224, full range y0 =
/// 0, ys = cs = 1 (ITU-R BT.601-7 section 2.5, BT.709-6 section 3). Results are rounded to nearest
/// and clamped. A chroma sample serves the 2 x 2 pixels that it was made from, without
/// interpolation.
struct YUVToRGB {
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

  /// One pixel.
  func convert(y: UInt8, u: UInt8, v: UInt8) -> (red: UInt8, green: UInt8, blue: UInt8) {
    let u = Int32(u) - 128
    let v = Int32(v) - 128
    // The half that rounds to nearest rides along with luma. No sum here can leave 32 bits: the
    // largest is below 2 ^ 26.
    let luma = (Int32(y) - self.lumaZero) &* self.lumaScale &+ 32768
    return (
      Self.clamp(luma &+ self.redFromV &* v),
      Self.clamp(luma &+ self.greenFromU &* u &+ self.greenFromV &* v),
      Self.clamp(luma &+ self.blueFromU &* u)
    )
  }

  /// One row.
  ///
  /// - Parameters:
  ///   - y: `width` luma samples.
  ///   - u: The first Cb sample of the chroma row that belongs to the row.
  ///   - v: The first Cr sample.
  ///   - chromaStep: Bytes from one chroma sample to the next: 1 in planes, 2 interleaved.
  ///   - rgb: Room for `3 * width` bytes.
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
