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
