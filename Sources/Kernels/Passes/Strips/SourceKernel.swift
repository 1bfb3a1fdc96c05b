import CKernels

/// Any function of a pixel and the pixel of the frame as it came in, applied to strips in place.
package final class SourceKernel: Sendable {
  /// What is meant, for one pixel: straight, and the frame's premultiplied.
  package typealias Reference =
    @Sendable (_ pixel: SIMD4<Double>, _ source: SIMD4<Double>, _ x: Int, _ y: Int) ->
    SIMD4<Double>
  /// A strip, straight, and the frame's at the same place, premultiplied, which is scratch.
  package typealias Apply = @Sendable (_ strip: Strip, _ source: Strip) -> Void

  /// The space in which the frame's colours are wanted.
  let space: WorkingSpace
  let reference: Reference
  let apply: Apply

  init(space: WorkingSpace, reference: @escaping Reference, apply: @escaping Apply) {
    self.space = space
    self.reference = reference
    self.apply = apply
  }
}

/// A step on a strip and the strip of the frame as it came in.
@safe
struct SourceStep {
  /// The function; the ``StripProgram`` owns it.
  private let kernel: Unmanaged<SourceKernel>
  private let decodes: Bool
  private let isPremultiplied: Bool
  private let isOpaque: Bool

  /// - Parameters:
  ///   - isPremultiplied: Whether the frame's colour is.
  ///   - isOpaque: Whether there is no alpha, or none that counts.
  init(_ kernel: SourceKernel, isPremultiplied: Bool, isOpaque: Bool) {
    unsafe self.kernel = .passUnretained(kernel)
    self.decodes = kernel.space == .sRGBLinear
    self.isPremultiplied = isPremultiplied
    self.isOpaque = isOpaque
  }

  /// Works on a strip of straight colour.
  ///
  /// - Parameter source: The frame's pixels, as they are stored; scratch afterwards.
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
    // Where a picture is opaque, what becomes of its alpha is void.
    ScratchStrip.with(strip) { scratch in
      unsafe scratch.alpha.update(repeating: 1, count: strip.count)
      let target = strip.replacingAlpha(by: scratch)
      unsafe self.kernel._withUnsafeGuaranteedRef { $0.apply(target, source) }
    }
  }
}
