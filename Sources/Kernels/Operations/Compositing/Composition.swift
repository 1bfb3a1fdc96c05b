import CKernels

/// The rule that combines two pictures, after Porter and Duff 1984 and the W3C's Compositing and
/// Blending: s the picture's premultiplied colour, o the other's, and their alphas.
package enum Composition: Sendable, Hashable {
  /// The picture in front: s + o (1 - sa).
  case over
  /// The other picture in front: o + s (1 - oa).
  case under
  /// s o, alpha too.
  case multiply
  /// s + o - s o, alpha too.
  case screen

  /// Returns a node that combines the frame with another picture.
  ///
  /// - Parameters:
  ///   - backdrop: The other picture; transparent outside its rectangle.
  ///   - opacity: A factor of the other picture, 0 ... 1.
  ///   - isOpaque: Whether the frame stays opaque: the result is composited on black.
  package func node(_ backdrop: PlacedBackdrop, opacity: Double = 1, isOpaque: Bool) -> FilterNode {
    backdrop.node(skips: self != .multiply) { pixel, other, _, _ in
      self.reference(pixel, other * opacity, isOpaque: isOpaque)
    } apply: { strip, other in
      if opacity != 1 {
        unsafe other.forEachChannel { channel in
          for index in 0 ..< strip.count { unsafe channel[index] *= Float(opacity) }
        }
      }
      unsafe sl_rows_current().pointee.composite(
        strip.red, strip.green, strip.blue, strip.alpha, other.red, other.green, other.blue,
        other.alpha, strip.count, self.row, isOpaque ? 1 : 0)
    }
  }

  private func reference(
    _ pixel: SIMD4<Double>, _ other: SIMD4<Double>, isOpaque: Bool
  ) -> SIMD4<Double> {
    let own = SIMD4(pixel.x * pixel.w, pixel.y * pixel.w, pixel.z * pixel.w, pixel.w)
    let result =
      switch self {
      case .over: own + other * (1 - own.w)
      case .under: other + own * (1 - other.w)
      case .multiply: own * other
      case .screen: own + other - own * other
      }
    guard !isOpaque else { return result }
    guard result.w > 0 else { return .zero }
    return SIMD4(result.x / result.w, result.y / result.w, result.z / result.w, result.w)
  }

  private var row: sl_composition {
    switch self {
    case .over: SL_COMPOSE_OVER
    case .under: SL_COMPOSE_UNDER
    case .multiply: SL_COMPOSE_MULTIPLY
    case .screen: SL_COMPOSE_SCREEN
    }
  }
}
