import CText
import SidelightKernels

/// The shadow of a text: the blurred coverage of its glyphs, displaced, in one colour.
struct CaptionShadow {
  private let color: RGBAColor
  /// The standard deviation of the blur in pixels.
  private let blur: Double
  /// The displacement of the shadow in whole pixels.
  private let offset: (x: Int, y: Int)

  /// Creates the shadow of a style; `nil` for a style without a shadow.
  init?(_ style: TextStyle) {
    guard style.shadowColor.alpha > 0 else { return nil }
    self.color = style.shadowColor
    self.blur = style.shadowBlur
    self.offset = (Int(style.shadowX.rounded()), Int(style.shadowY.rounded()))
  }

  /// Returns the pixels that the shadow of some glyphs covers.
  func bounds(of glyphs: [CaptionGlyph]) -> CaptionBounds {
    let bounds = self.blurredBounds(of: glyphs)
    return bounds.isEmpty ? bounds : bounds.shifted(self.offset.x, self.offset.y)
  }

  /// Returns the pixels on which the shadow on a canvas depends.
  func source(of canvas: CaptionBounds) -> CaptionBounds {
    canvas.shifted(-self.offset.x, -self.offset.y).expanded(by: self.reach)
  }

  /// Draws the shadow. Its mask has only the pixels that are not clear after the blur, and on which
  /// the canvas depends.
  ///
  /// - Throws: ``TextError`` if the mask has more than ``TextLimits/maxShadowPixels`` in addition
  ///   to the canvas.
  func draw(of glyphs: [CaptionGlyph], on canvas: CaptionCanvas) throws(TextError) {
    let bounds = self.blurredBounds(of: glyphs).intersection(self.source(of: canvas.bounds))
    guard !bounds.isEmpty else { return }
    guard bounds.pixelCount <= canvas.bounds.pixelCount + TextLimits.maxShadowPixels else {
      throw TextError(
        "the text's shadow is computed from \(bounds.pixelCount) pixels, more than "
          + "\(TextLimits.maxShadowPixels) beyond those that it covers; reduce the size or the "
          + "shadow's blur", limit: TextLimits.maxShadowPixels)
    }
    let mask = CaptionMask(bounds)
    for glyph in glyphs { mask.add(glyph) }
    guard unsafe ctext_mask_blur(mask.picture, self.blur) == CTEXT_OK else {
      throw TextError("there is not enough memory for the text")
    }
    mask.draw(self.color, on: canvas, x: self.offset.x, y: self.offset.y)
  }

  /// The reach of the blur in pixels: three boxes reach about three standard deviations.
  private var reach: Int { Int((3 * self.blur).rounded(.up)) + 2 }

  /// The bounds of the blurred glyphs before they are displaced.
  private func blurredBounds(of glyphs: [CaptionGlyph]) -> CaptionBounds {
    var bounds = CaptionBounds.empty
    for glyph in glyphs { bounds.formUnion(glyph.bounds) }
    return bounds.isEmpty ? bounds : bounds.expanded(by: self.reach)
  }
}
