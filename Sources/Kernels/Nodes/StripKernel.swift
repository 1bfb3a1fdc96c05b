import CKernels

/// A function of pixels and their positions, applied to a strip in place: straight colour in units
/// of 0 ... 1, unclamped.
package final class StripKernel: Sendable {
  /// The implementation. Called for every strip, on compute threads, several at the same time.
  package let apply: @Sendable (Strip) -> Void

  /// The definition for one pixel.
  package let reference:
    @Sendable (_ pixel: SIMD4<Double>, _ x: Int, _ y: Int, FrameTime) -> SIMD4<Double>

  /// Whether every colour channel is a function of itself alone, the same at every position.
  let isCurve: Bool
  /// The same function of pixels of bytes, without strips, if available.
  let pixels: PixelFunction?
  /// The estimated time of a pixel on one thread, of a kernel from text; `nil` for other functions.
  package let nanosecondsPerPixel: Double?

  package init(
    isCurve: Bool = false, nanosecondsPerPixel: Double? = nil, pixels: PixelFunction? = nil,
    reference:
      @escaping @Sendable (_ pixel: SIMD4<Double>, _ x: Int, _ y: Int, FrameTime) ->
      SIMD4<Double>,
    apply: @escaping @Sendable (Strip) -> Void
  ) {
    self.isCurve = isCurve
    self.pixels = pixels
    self.nanosecondsPerPixel = nanosecondsPerPixel
    self.reference = reference
    self.apply = apply
  }
}

/// A function of four-byte pixels that keeps the fourth byte.
@safe
package struct PixelFunction: Sendable {
  /// Computes `count` pixels; `input` and `output` may be the same memory. `red` is the index of
  /// red in a pixel: 0 or 2.
  let apply:
    @Sendable (
      _ input: UnsafePointer<UInt8>, _ count: Int, _ red: Int,
      _ output: UnsafeMutablePointer<UInt8>
    ) -> Void
}

extension ToneCurve {
  /// The curve as a kernel on strips.
  package var kernel: StripKernel {
    StripKernel(
      isCurve: true,
      reference: { pixel, _, _, _ in [self(pixel.x), self(pixel.y), self(pixel.z), pixel.w] },
      apply: { strip in
        let rows = unsafe sl_rows_current()
        unsafe strip.forEachColor { plane in
          switch self {
          case .power(let exponent):
            unsafe rows.pointee.power(plane, strip.count, Float(exponent))
          case .linearized: unsafe rows.pointee.srgb_to_linear(plane, strip.count)
          case .encoded: unsafe rows.pointee.linear_to_srgb(plane, strip.count)
          }
        }
      })
  }
}

extension FilterNode {
  /// A function of colour channels.
  package static func curve(_ curve: ToneCurve) -> FilterNode {
    FilterNode(.kernel(curve.kernel))
  }
}
