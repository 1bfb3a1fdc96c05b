import CText
import SidelightKernels

/// The pixels of a text, and their place in the frame.
@safe
struct CaptionCanvas {
  let picture: ctext_picture
  let left: Int
  let top: Int

  /// The rectangle of the frame.
  var bounds: CaptionBounds {
    unsafe CaptionBounds(
      left: self.left, top: self.top, right: self.left + Int(self.picture.width),
      bottom: self.top + Int(self.picture.height))
  }
}

/// The coverage of some glyphs.
@safe
final class CaptionMask {
  let picture: ctext_picture
  /// The position of the top left pixel in the frame.
  private let left: Int
  private let top: Int
  private let pixels: UnsafeMutableBufferPointer<UInt8>

  /// Creates an empty mask of a rectangle, which is not empty.
  init(_ bounds: CaptionBounds) {
    let (width, height) = (bounds.right - bounds.left, bounds.bottom - bounds.top)
    let pixels = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: width * height)
    unsafe pixels.initialize(repeating: 0)
    unsafe self.pixels = pixels
    unsafe self.picture = ctext_picture(
      width: Int32(width), height: Int32(height), pixels: pixels.baseAddress.unsafelyUnwrapped)
    self.left = bounds.left
    self.top = bounds.top
  }

  deinit {
    unsafe self.pixels.deallocate()
  }

  /// Adds the coverage of a glyph.
  func add(_ glyph: CaptionGlyph) {
    var bitmap = unsafe glyph.image.bitmap
    let (column, row) = (glyph.x - self.left, glyph.y - self.top)
    guard unsafe bitmap.is_color != 0 else {
      unsafe ctext_mask_add(self.picture, &bitmap, Int32(column), Int32(row))
      return
    }
    var mask = unsafe self.picture
    unsafe ctext_draw_bitmap(
      mask, &mask, &bitmap, Double(column), Double(row), Double(bitmap.width) * glyph.scale,
      Double(bitmap.height) * glyph.scale, 1)
  }

  /// Draws a colour where the mask covers, displaced.
  func draw(_ color: RGBAColor, on canvas: CaptionCanvas, x: Int, y: Int) {
    unsafe ctext_draw_mask(
      canvas.picture, self.picture, Int32(self.left + x - canvas.left),
      Int32(self.top + y - canvas.top), CaptionRenderer.premultiplied(color))
  }
}

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

/// A rectangle of pixels, which may be empty.
struct CaptionBounds {
  var left: Int
  var top: Int
  var right: Int
  var bottom: Int

  static let empty = CaptionBounds(left: 0, top: 0, right: 0, bottom: 0)

  var isEmpty: Bool { self.left >= self.right || self.top >= self.bottom }

  /// Extends the rectangle to one that contains both.
  mutating func formUnion(_ other: CaptionBounds) {
    if other.isEmpty { return }
    if self.isEmpty {
      self = other
      return
    }
    self = CaptionBounds(
      left: min(self.left, other.left), top: min(self.top, other.top),
      right: max(self.right, other.right), bottom: max(self.bottom, other.bottom))
  }

  var pixelCount: Int {
    self.isEmpty ? 0 : (self.right - self.left) * (self.bottom - self.top)
  }

  func intersection(_ other: CaptionBounds) -> CaptionBounds {
    let bounds = CaptionBounds(
      left: max(self.left, other.left), top: max(self.top, other.top),
      right: min(self.right, other.right), bottom: min(self.bottom, other.bottom))
    return bounds.isEmpty ? .empty : bounds
  }

  func expanded(by margin: Int) -> CaptionBounds {
    CaptionBounds(
      left: self.left - margin, top: self.top - margin, right: self.right + margin,
      bottom: self.bottom + margin)
  }

  func shifted(_ x: Int, _ y: Int) -> CaptionBounds {
    CaptionBounds(
      left: self.left + x, top: self.top + y, right: self.right + x, bottom: self.bottom + y)
  }

  mutating func clamp(to frame: FrameSize) {
    self.left = max(self.left, 0)
    self.top = max(self.top, 0)
    self.right = min(self.right, frame.width)
    self.bottom = min(self.bottom, frame.height)
  }
}
