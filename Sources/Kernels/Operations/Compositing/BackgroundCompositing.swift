import CKernels

/// The picture over a background image, which is visible where the picture is not opaque.
struct SourceOverCompositing: BackgroundCompositing {
  static let description = Self.makeDescription(
    "sourceOverCompositing", "Composites the picture over a background image.",
    """
    s + o (1 - sa), colour multiplied by alpha (Porter and Duff 1984), s the picture and o the \
    background
    """)
  static let composition = Composition.over

  let arguments: Arguments
}

/// The product of the picture and a background image.
struct MultiplyCompositing: BackgroundCompositing {
  static let description = Self.makeDescription(
    "multiplyCompositing", "Multiplies the picture by a background image.",
    """
    s o, colour multiplied by alpha, and alpha too; the result of an opaque picture is composited \
    on black
    """)
  static let composition = Composition.multiply

  let arguments: Arguments
}

/// The screen blend of the picture and a background image, which lightens the picture.
struct ScreenBlendMode: BackgroundCompositing {
  static let description = Self.makeDescription(
    "screenBlendMode", "Lightens the picture by a background image, like two projectors.",
    "s + o - s o, colour multiplied by alpha, and alpha too (W3C Compositing and Blending, screen)")
  static let composition = Composition.screen

  let arguments: Arguments
}

/// The common part of the filters that composite the picture with a background image.
protocol BackgroundCompositing: ArgumentFilter, SpaceDependentFilter {
  static var composition: Composition { get }
}

extension BackgroundCompositing {
  /// The nodes in a working space: the background is converted to it.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    let fit = PictureFit(rawValue: self.arguments.text("fit")) ?? .stretch
    guard
      let placed = Backdrop("backgroundImage", of: self.arguments)?
        .placed(fit, in: geometry.size, space)
    else { return [] }
    return [Self.composition.node(placed, isOpaque: geometry.isOpaque)]
  }

  fileprivate static func makeDescription(
    _ name: String, _ summary: String, _ formula: String
  ) -> FilterDescription {
    FilterDescription(
      name: name, summary: summary, category: .compositing, reach: .pixel, fidelity: .formula,
      isCoreImage: true, formula: formula,
      parameters: [
        .backdrop(
          "backgroundImage",
          "The name of the background image, or source: the frame before the first stage."),
        .fit(
          default: .stretch, "How the image is fitted into the frame; source is stretched."),
      ])
  }
}

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
    let own = pixel.premultiplied
    let result =
      switch self {
      case .over: own + other * (1 - own.w)
      case .under: other + own * (1 - other.w)
      case .multiply: own * other
      case .screen: own + other - own * other
      }
    return result.straight(isOpaque: isOpaque)
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
