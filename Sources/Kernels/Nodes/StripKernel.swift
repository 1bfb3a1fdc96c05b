import CKernels

/// A function of pixels and their positions, applied to a strip in place: straight colour in units
/// of 0 ... 1, unclamped.
package final class StripKernel: Sendable {
  /// The implementation. Called for every strip, on compute threads, several at the same time.
  package let apply: @Sendable (Strip) -> Void

  /// The definition for one pixel, in double precision.
  package typealias Formula =
    @Sendable (_ pixel: SIMD4<Double>, _ x: Int, _ y: Int, FrameTime) -> SIMD4<Double>
  package let definition: PixelDefinition<Formula>

  /// Whether every colour channel is a function of itself alone, the same at every position.
  let isCurve: Bool
  /// The same function of pixels of bytes, without strips, if available.
  let pixels: PixelFunction?
  /// The estimated time of a pixel on one thread, of a kernel from text; `nil` for other functions.
  package let nanosecondsPerPixel: Double?

  package init(
    _ definition: PixelDefinition<Formula>, isCurve: Bool = false,
    nanosecondsPerPixel: Double? = nil, pixels: PixelFunction? = nil,
    apply: @escaping @Sendable (Strip) -> Void
  ) {
    self.definition = definition
    self.isCurve = isCurve
    self.pixels = pixels
    self.nanosecondsPerPixel = nanosecondsPerPixel
    self.apply = apply
  }

  package convenience init(
    isCurve: Bool = false, pixels: PixelFunction? = nil, reference: @escaping Formula,
    apply: @escaping @Sendable (Strip) -> Void
  ) {
    self.init(.formula(reference), isCurve: isCurve, pixels: pixels, apply: apply)
  }
}

/// The definition of a function of pixels, with which its implementation is compared.
package enum PixelDefinition<Formula: Sendable>: Sendable {
  case formula(Formula)
  /// A value whose formula is in `Tests/Reference`.
  case value(any Sendable)
}

/// A function of four-byte pixels that keeps the fourth byte.
@safe
package struct PixelFunction: Sendable {
  /// Computes `count` pixels; `input` and `output` may be the same memory. `red` is the index of
  /// red in a pixel: 0 or 2.
  package typealias Apply =
    @Sendable (
      _ input: UnsafePointer<UInt8>, _ count: Int, _ red: Int,
      _ output: UnsafeMutablePointer<UInt8>
    ) -> Void

  let apply: Apply

  package init(_ apply: @escaping Apply) {
    unsafe self.apply = unsafe apply
  }
}

extension ToneCurve {
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

/// A function of a pixel and of the source frame's pixel, applied to strips in place.
package final class SourceKernel: Sendable {
  /// The definition for one pixel: `pixel` is straight, `source` premultiplied.
  package typealias Reference =
    @Sendable (_ pixel: SIMD4<Double>, _ source: SIMD4<Double>, _ x: Int, _ y: Int) ->
    SIMD4<Double>
  /// The implementation for a strip: `strip` is straight, `source` premultiplied and used as
  /// scratch.
  package typealias Apply = @Sendable (_ strip: Strip, _ source: Strip) -> Void

  /// The space in which `source` is expected.
  package let space: WorkingSpace
  /// The estimated time of a pixel on one thread, if the function comes from text.
  let nanosecondsPerPixel: Double
  package let definition: PixelDefinition<Reference>
  package let apply: Apply

  package init(
    _ definition: PixelDefinition<Reference>, space: WorkingSpace,
    nanosecondsPerPixel: Double = 0, apply: @escaping Apply
  ) {
    self.definition = definition
    self.space = space
    self.nanosecondsPerPixel = nanosecondsPerPixel
    self.apply = apply
  }
}

/// A step on a strip and the strip of the source frame.
@safe
struct SourceStep {
  /// The function, which the ``StripProgram`` owns.
  private let kernel: Unmanaged<SourceKernel>
  private let decodes: Bool
  private let isPremultiplied: Bool
  private let isOpaque: Bool

  /// The estimated time of a pixel on one thread, if the function comes from text.
  var nanosecondsPerPixel: Double {
    unsafe self.kernel._withUnsafeGuaranteedRef { $0.nanosecondsPerPixel }
  }

  /// Creates a step.
  ///
  /// - Parameters:
  ///   - kernel: The function.
  ///   - isPremultiplied: Whether the source frame's colour is premultiplied.
  ///   - isOpaque: Whether the format is without alpha, or alpha is ignored.
  init(_ kernel: SourceKernel, isPremultiplied: Bool, isOpaque: Bool) {
    unsafe self.kernel = .passUnretained(kernel)
    self.decodes = kernel.space == .sRGBLinear
    self.isPremultiplied = isPremultiplied
    self.isOpaque = isOpaque
  }

  /// Runs the step on a strip of straight colour.
  ///
  /// - Parameter source: The source frame's pixels as stored; overwritten as scratch.
  func run(_ strip: Strip, source: Strip, rows: sl_rows) {
    let (red, green, blue, alpha) = unsafe (source.red, source.green, source.blue, source.alpha)
    if self.isOpaque {
      unsafe alpha.update(repeating: 1, count: strip.count)
    } else if self.decodes, self.isPremultiplied {
      unsafe rows.unpremultiply(red, green, blue, alpha, strip.count)
    }
    if self.decodes {
      unsafe source.forEachColor { unsafe rows.srgb_to_linear($0, strip.count) }
    }
    if !self.isOpaque, self.decodes || !self.isPremultiplied {
      unsafe rows.premultiply(red, green, blue, alpha, strip.count)
    }
    guard self.isOpaque else {
      return unsafe self.kernel._withUnsafeGuaranteedRef { $0.apply(strip, source) }
    }
    // In an opaque picture, changes of alpha are ignored.
    ScratchStrip.with(strip) { scratch in
      unsafe scratch.alpha.update(repeating: 1, count: strip.count)
      let target = strip.replacingAlpha(by: scratch)
      unsafe self.kernel._withUnsafeGuaranteedRef { $0.apply(target, source) }
    }
  }
}
