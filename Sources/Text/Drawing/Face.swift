import CText
import SidelightKernels

/// An opened font with the glyphs that were rendered last. One thread uses it at a time.
@safe
final class Face: @unchecked Sendable {  // FontFile gives it to one thread at a time
  /// A rendered glyph.
  @safe
  final class Glyph {
    /// The pixels; they live as long as the glyph.
    let bitmap: ctext_bitmap

    fileprivate init(_ bitmap: ctext_bitmap) {
      unsafe self.bitmap = bitmap
    }

    deinit {
      var bitmap = unsafe self.bitmap
      unsafe ctext_bitmap_free(&bitmap)
    }

    var pixelCount: Int { unsafe Int(self.bitmap.width) * Int(self.bitmap.height) }

    /// The number of rendered pixels, including all layers.
    var cost: Int { unsafe max(self.pixelCount, Int(self.bitmap.layer_pixels)) }
  }

  /// Everything on which a glyph's pixels depend; lengths in 1/64 pixel.
  struct GlyphKey: Hashable {
    let glyph: UInt32
    let size: Int32
    let x: Int32
    let y: Int32
    let stroke: Int32
  }

  /// The maximum size of kept glyphs in bytes.
  private static let maxGlyphBytes = 384 << 10
  /// The bytes of a kept glyph without its pixels.
  private static let glyphBytes = 128

  /// Family, style and metrics.
  let properties: FontProperties
  private let face: OpaquePointer
  private var glyphs: [GlyphKey: Glyph] = [:]
  private var glyphByteCount = 0

  /// Opens a font.
  ///
  /// - Parameters:
  ///   - bytes: The file, which outlives the face.
  ///   - index: The number of the font in a collection.
  init(_ bytes: UnsafeRawBufferPointer, index: Int) throws(TextError) {
    var reason = [CChar](repeating: 0, count: 160)
    let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
    let capacity = reason.count
    guard let start = unsafe start,
      let face = unsafe ctext_face_open(
        start, bytes.count, Int32(index), &reason, capacity)
    else {
      throw TextError(
        String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    unsafe self.face = face
    self.properties = unsafe FontProperties(face)
  }

  deinit {
    unsafe ctext_face_close(self.face)
  }

  /// Whether the font has a glyph for a character.
  func has(_ character: UInt32) -> Bool { unsafe ctext_face_has(self.face, character) != 0 }

  /// Shapes a part of a text.
  ///
  /// - Returns: The glyphs from left to right.
  func shape(
    _ text: [UInt32], _ part: Range<Int>, size: Int, isRightToLeft: Bool, script: UInt32,
    hasTabularDigits: Bool
  ) throws(TextError) -> [ctext_glyph] {
    let capacity = 4 * part.count + 64
    var glyphs = [ctext_glyph](repeating: ctext_glyph(), count: capacity)
    let count = unsafe ctext_shape(
      self.face, Int32(size), text, Int32(text.count), Int32(part.lowerBound), Int32(part.count),
      isRightToLeft ? 1 : 0, script, hasTabularDigits ? 1 : 0, &glyphs, Int32(capacity))
    guard count >= 0 else { throw Self.error(count) }
    glyphs.removeLast(capacity - Int(count))
    return glyphs
  }

  /// Returns a glyph's pixels: kept ones, or new ones.
  ///
  /// - Parameter maxPixels: The maximum number of pixels.
  func glyph(_ key: GlyphKey, maxPixels: Int) throws(TextError) -> Glyph {
    if let glyph = self.glyphs[key] { return glyph }
    var bitmap = unsafe ctext_bitmap()
    let result = unsafe ctext_render(
      self.face, key.size, key.glyph, key.x, key.y, key.stroke, maxPixels, &bitmap)
    guard result == CTEXT_OK else { throw Self.error(Int32(result.rawValue)) }
    let glyph = unsafe Glyph(bitmap)
    let isColor = unsafe bitmap.is_color != 0
    let byteCount = (isColor ? 4 : 1) * glyph.pixelCount
    if self.glyphByteCount + byteCount + Self.glyphBytes > Self.maxGlyphBytes {
      self.glyphs = [:]
      self.glyphByteCount = 0
    }
    if byteCount + Self.glyphBytes <= Self.maxGlyphBytes {
      self.glyphs[key] = glyph
      self.glyphByteCount += byteCount + Self.glyphBytes
    }
    return glyph
  }

  /// Whether glyphs have outlines; otherwise they are pictures of a few sizes.
  var isScalable: Bool { self.properties.isScalable }

  /// The size of the pictures that are used for a size, in pixels.
  func strikeSize(for size: Double) -> Double {
    unsafe max(1, Double(ctext_strike_size(self.face, Int32(size * 64))) / 64)
  }

  private static func error(_ code: Int32) -> TextError {
    switch code {
    case CTEXT_ERROR_FONT.rawValue: TextError("the font is damaged")
    case CTEXT_ERROR_MEMORY.rawValue: TextError("there is not enough memory for the text")
    default:
      TextError(
        "the text's glyphs exceed \(TextLimits.maxGlyphPixels) pixels or the font's outlines are "
          + "too complex; reduce the size or the text", limit: TextLimits.maxGlyphPixels)
    }
  }
}

/// The limits of texts in addition to their length.
enum TextLimits {
  /// The maximum number of pixels of all glyphs of a text.
  static let maxGlyphPixels = 16 << 20
  /// The maximum number of pixels from which a shadow is computed, in addition to the drawn
  /// rectangle.
  static let maxShadowPixels = 16 << 20
  /// The maximum number of glyphs of a text.
  static let maxGlyphs = 2048
}

/// Family, style and metrics of a font.
struct FontProperties: Sendable, Hashable {
  let family: String
  let style: String
  let glyphCount: Int
  /// The distances from the baseline in font sizes.
  let ascent, descent, lineGap: Double
  /// Whether glyphs are pictures in colour.
  let hasColor: Bool
  /// Whether glyphs have outlines.
  let isScalable: Bool

  fileprivate init(_ face: OpaquePointer) {
    var info = ctext_info()
    unsafe ctext_face_describe(face, &info)
    self.family = Self.text(info.family)
    self.style = Self.text(info.style)
    self.glyphCount = Int(info.glyph_count)
    func bounded(_ value: Float) -> Double { value.isFinite ? min(max(Double(value), 0), 4) : 0 }
    let (ascent, descent) = (bounded(info.ascent), bounded(info.descent))
    let isUsable = ascent + descent > 0.1
    self.ascent = isUsable ? ascent : 0.8
    self.descent = isUsable ? descent : 0.2
    self.lineGap = bounded(info.line_gap)
    self.hasColor = info.has_color != 0
    self.isScalable = info.is_scalable != 0
  }

  private static func text<Characters>(_ characters: Characters) -> String {
    unsafe withUnsafeBytes(of: characters) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
