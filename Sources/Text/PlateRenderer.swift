import CText
import SidelightKernels

/// Draws one text: lays it out, renders its glyphs, and combines box, shadow, outline and letters.
struct PlateRenderer {
  let request: TextRequest
  let fonts: FontChoice

  /// A rendered glyph at its place in the frame.
  private struct DrawnGlyph {
    let image: Face.Glyph
    /// The top left pixel.
    let x: Int
    let y: Int
    /// The factor from the glyph's pixels to the frame's; 1 except for pictures in colour.
    let scale: Double
  }

  private var style: TextStyle { self.request.style }
  private var hasBox: Bool { self.style.boxColor.alpha > 0 }
  private var hasShadow: Bool { self.style.shadowColor.alpha > 0 }
  private var hasOutline: Bool {
    self.style.outlineWidth > 0 && self.style.outlineColor.alpha > 0
  }

  /// Draws the text.
  ///
  /// - Returns: `nil` if no pixel of the frame is covered.
  func render(_ faces: inout FaceSet) throws(TextError) -> TextPlate? {
    let (paddingX, paddingY) =
      self.hasBox ? (self.style.boxPaddingX, self.style.boxPaddingY) : (0, 0)
    let layout = try TextLayout(
      self.request.text, self.style, maxWidth: self.style.maxWidth - 2 * paddingX, self.fonts,
      &faces)
    let content =
      self.style.isBoxWide && self.hasBox
      ? max(self.style.maxWidth - 2 * paddingX, layout.width) : layout.width
    // Edges between pixels would be blurred.
    let width = (content + 2 * paddingX).rounded(.up)
    let height = (layout.height + 2 * paddingY).rounded(.up)
    let corner = self.request.placement.origin(width: width, height: height)
    let (left, top) = (corner.x.rounded(), corner.y.rounded())
    let bound = Double(1 << 20)
    guard abs(left) < bound, abs(top) < bound, width < bound, height < bound else { return nil }
    let drawing = try self.glyphs(
      of: layout, left: left + (width - content) / 2, top: top + paddingY, content: content,
      &faces)
    let box = Bounds(
      left: Int(left), top: Int(top), right: Int(left + width), bottom: Int(top + height))
    var bounds = self.hasBox ? box : Bounds.empty
    let glyphs = drawing.letters + drawing.outlines
    for glyph in glyphs { bounds.formUnion(Self.bounds(of: glyph)) }
    if self.hasShadow { bounds.formUnion(self.shadowBounds(of: glyphs)) }
    bounds.clamp(to: self.request.placement.frame)
    guard !bounds.isEmpty else { return nil }
    return try self.compose(
      drawing.letters, drawing.outlines, bounds,
      box: (left: left, top: top, right: left + width, bottom: top + height))
  }

  // MARK: Glyphs

  /// Renders the glyphs of the lines: letters, and the lines around them.
  private func glyphs(
    of layout: TextLayout, left: Double, top: Double, content: Double, _ faces: inout FaceSet
  ) throws(TextError) -> (letters: [DrawnGlyph], outlines: [DrawnGlyph]) {
    var letters: [DrawnGlyph] = []
    var outlines: [DrawnGlyph] = []
    var left64 = 0
    var pixels = TextLimits.maxGlyphPixels
    let stroke = self.hasOutline ? Int32((self.style.outlineWidth * 64).rounded()) : 0
    for line in layout.lines {
      let space = content - Double(line.width) / 64
      let indent =
        switch self.style.alignment ?? (line.isRightToLeft ? .right : .left) {
        case .left: 0.0
        case .center: space / 2
        case .right: space
        }
      left64 = Int(((left + indent) * 64).rounded())
      let baseline = Int((top + line.baseline).rounded())
      for glyph in line.glyphs {
        if let letter = try self.draw(glyph, left64, baseline, stroke: 0, &pixels, &faces) {
          letters.append(letter)
        }
        guard stroke > 0 else { continue }
        if let outline = try self.draw(glyph, left64, baseline, stroke: stroke, &pixels, &faces) {
          outlines.append(outline)
        }
      }
    }
    return (letters, outlines)
  }

  /// Renders a glyph.
  ///
  /// - Parameters:
  ///   - left: The left end of the line in 1/64 pixel.
  ///   - baseline: The pixel row below the baseline.
  ///   - stroke: The width of the line around the glyph in 1/64 pixel; 0 for the glyph itself.
  ///   - pixels: The pixels that may still be rendered.
  /// - Returns: `nil` if the glyph is blank or outside the frame.
  private func draw(
    _ glyph: TextLayout.PlacedGlyph, _ left: Int, _ baseline: Int, stroke: Int32,
    _ pixels: inout Int, _ faces: inout FaceSet
  ) throws(TextError) -> DrawnGlyph? {
    // Positions in quarters of a pixel look as good as exact ones, and glyphs recur.
    let x = (left + glyph.x + 8) & ~15
    let y = (glyph.y + 8) & ~15
    let (column, row) = (x >> 6, y >> 6)
    let frame = self.request.placement.frame
    let reach = Int(17 * self.style.size)
    guard (-reach ... frame.width + reach).contains(column),
      (-reach ... frame.height + reach).contains(baseline - row)
    else { return nil }
    let face = try faces.face(of: glyph.font)
    let image = try face.glyph(
      Face.GlyphKey(
        glyph: glyph.glyph, size: Int32((self.style.size * 64).rounded()), x: Int32(x & 63),
        y: Int32(y & 63), stroke: stroke), maxPixels: max(pixels, 0))
    let bitmap = unsafe image.bitmap
    guard unsafe bitmap.pixels != nil else { return nil }
    try Self.charge(image.cost, to: &pixels)
    guard unsafe bitmap.is_color != 0, glyph.font.properties.hasColor, !face.isScalable else {
      return unsafe DrawnGlyph(
        image: image, x: column + Int(bitmap.left), y: baseline - row - Int(bitmap.top), scale: 1)
    }
    let scale = self.style.size / face.strikeSize(for: self.style.size)
    let drawn = unsafe DrawnGlyph(
      image: image, x: column + Int((Double(bitmap.left) * scale).rounded()),
      y: baseline - row - Int((Double(bitmap.top) * scale).rounded()), scale: scale)
    // Each pixel of the frame, and of the shadow's mask, that the picture covers is computed.
    let canvas = Bounds(left: 0, top: 0, right: frame.width, bottom: frame.height)
    let covered = Self.bounds(of: drawn)
    try Self.charge(covered.intersection(canvas).pixelCount, to: &pixels)
    if self.hasShadow {
      try Self.charge(
        covered.intersection(self.shadowSource(of: canvas)).pixelCount, to: &pixels)
    }
    return drawn
  }

  /// Subtracts pixels from those that may still be rendered.
  private static func charge(_ count: Int, to pixels: inout Int) throws(TextError) {
    pixels -= count
    guard pixels >= 0 else {
      throw TextError(
        "the text's glyphs have more than \(TextLimits.maxGlyphPixels) pixels; reduce the size or "
          + "the text")
    }
  }

  private static func bounds(of glyph: DrawnGlyph) -> Bounds {
    let bitmap = unsafe glyph.image.bitmap
    return unsafe Bounds(
      left: glyph.x, top: glyph.y,
      right: glyph.x + Int((Double(bitmap.width) * glyph.scale).rounded(.up)),
      bottom: glyph.y + Int((Double(bitmap.height) * glyph.scale).rounded(.up)))
  }

  /// The pixels by which the blur reaches: three boxes reach about three standard deviations.
  private var blurReach: Int { Int((3 * self.style.shadowBlur).rounded(.up)) + 2 }

  /// The whole pixels by which the shadow is displaced.
  private var shadowOffset: (x: Int, y: Int) {
    (Int(self.style.shadowX.rounded()), Int(self.style.shadowY.rounded()))
  }

  /// The bounds of the blurred glyphs before they are displaced.
  private func blurredBounds(of glyphs: [DrawnGlyph]) -> Bounds {
    var bounds = Bounds.empty
    for glyph in glyphs { bounds.formUnion(Self.bounds(of: glyph)) }
    return bounds.isEmpty ? bounds : bounds.expanded(by: self.blurReach)
  }

  private func shadowBounds(of glyphs: [DrawnGlyph]) -> Bounds {
    let bounds = self.blurredBounds(of: glyphs)
    return bounds.isEmpty ? bounds : bounds.shifted(self.shadowOffset.x, self.shadowOffset.y)
  }

  /// The pixels on which the shadow on a canvas depends.
  private func shadowSource(of canvas: Bounds) -> Bounds {
    canvas.shifted(-self.shadowOffset.x, -self.shadowOffset.y).expanded(by: self.blurReach)
  }

  // MARK: Pixels

  private func compose(
    _ letters: [DrawnGlyph], _ outlines: [DrawnGlyph], _ bounds: Bounds,
    box: (left: Double, top: Double, right: Double, bottom: Double)
  ) throws(TextError) -> TextPlate {
    let size = FrameSize(width: bounds.right - bounds.left, height: bounds.bottom - bounds.top)
    var pixels = [UInt8](repeating: 0, count: 4 * size.pixelCount)
    var failure: TextError?
    unsafe pixels.withUnsafeMutableBufferPointer { pixels in
      guard let start = pixels.baseAddress else { return }
      let canvas = unsafe Canvas(
        picture: ctext_picture(
          width: Int32(size.width), height: Int32(size.height), pixels: start),
        left: bounds.left, top: bounds.top)
      do {
        try self.draw(letters, outlines, box, canvas)
      } catch let error as TextError {
        failure = error
      } catch {
        failure = TextError("\(error)")
      }
    }
    if let failure { throw failure }
    return TextPlate(x: bounds.left, y: bounds.top, size: size, pixels: pixels)
  }

  private func draw(
    _ letters: [DrawnGlyph], _ outlines: [DrawnGlyph],
    _ box: (left: Double, top: Double, right: Double, bottom: Double), _ canvas: Canvas
  ) throws(TextError) {
    if self.hasBox {
      let (x, y) = (Double(canvas.left), Double(canvas.top))
      unsafe ctext_draw_box(
        canvas.picture, box.left - x, box.top - y, box.right - x, box.bottom - y,
        self.style.boxRadius, Self.premultiplied(self.style.boxColor))
    }
    if self.hasShadow { try self.drawShadow(of: letters + outlines, canvas) }
    if self.hasOutline {
      let mask = Mask(canvas.bounds)
      for glyph in outlines { mask.add(glyph.image, glyph.x, glyph.y, glyph.scale) }
      mask.draw(self.style.outlineColor, on: canvas, x: 0, y: 0)
    }
    let mask = Mask(canvas.bounds)
    for glyph in letters where unsafe glyph.image.bitmap.is_color == 0 {
      mask.add(glyph.image, glyph.x, glyph.y, 1)
    }
    mask.draw(self.style.color, on: canvas, x: 0, y: 0)
    for glyph in letters {
      var bitmap = unsafe glyph.image.bitmap
      guard unsafe bitmap.is_color != 0 else { continue }
      unsafe ctext_draw_bitmap(
        canvas.picture, nil, &bitmap, Double(glyph.x - canvas.left),
        Double(glyph.y - canvas.top), Double(bitmap.width) * glyph.scale,
        Double(bitmap.height) * glyph.scale, Float(self.style.color.alpha))
    }
  }

  /// Draws the shadow. Its mask has only the pixels that are not clear after the blur, and on which
  /// the canvas depends.
  private func drawShadow(of glyphs: [DrawnGlyph], _ canvas: Canvas) throws(TextError) {
    let bounds = self.blurredBounds(of: glyphs)
      .intersection(self.shadowSource(of: canvas.bounds))
    guard !bounds.isEmpty else { return }
    guard bounds.pixelCount <= canvas.bounds.pixelCount + TextLimits.maxShadowPixels else {
      throw TextError(
        "the text's shadow is computed from \(bounds.pixelCount) pixels, more than "
          + "\(TextLimits.maxShadowPixels) beyond those that it covers; reduce the size or the "
          + "shadow's blur")
    }
    let mask = Mask(bounds)
    for glyph in glyphs { mask.add(glyph.image, glyph.x, glyph.y, glyph.scale) }
    guard unsafe ctext_mask_blur(mask.picture, self.style.shadowBlur) == CTEXT_OK else {
      throw TextError("there is not enough memory for the text")
    }
    mask.draw(
      self.style.shadowColor, on: canvas, x: self.shadowOffset.x, y: self.shadowOffset.y)
  }

  static func premultiplied(_ color: RGBAColor) -> [Float] {
    let alpha = Float(color.alpha)
    return [
      Float(color.red) * alpha, Float(color.green) * alpha, Float(color.blue) * alpha, alpha,
    ]
  }
}

/// A rectangle of pixels, which may be empty.
private struct Bounds {
  var left: Int
  var top: Int
  var right: Int
  var bottom: Int

  static let empty = Bounds(left: 0, top: 0, right: 0, bottom: 0)

  var isEmpty: Bool { self.left >= self.right || self.top >= self.bottom }

  mutating func formUnion(_ other: Bounds) {
    if other.isEmpty { return }
    if self.isEmpty {
      self = other
      return
    }
    self = Bounds(
      left: min(self.left, other.left), top: min(self.top, other.top),
      right: max(self.right, other.right), bottom: max(self.bottom, other.bottom))
  }

  var pixelCount: Int {
    self.isEmpty ? 0 : (self.right - self.left) * (self.bottom - self.top)
  }

  func intersection(_ other: Bounds) -> Bounds {
    let bounds = Bounds(
      left: max(self.left, other.left), top: max(self.top, other.top),
      right: min(self.right, other.right), bottom: min(self.bottom, other.bottom))
    return bounds.isEmpty ? .empty : bounds
  }

  func expanded(by margin: Int) -> Bounds {
    Bounds(
      left: self.left - margin, top: self.top - margin, right: self.right + margin,
      bottom: self.bottom + margin)
  }

  func shifted(_ x: Int, _ y: Int) -> Bounds {
    Bounds(
      left: self.left + x, top: self.top + y, right: self.right + x, bottom: self.bottom + y)
  }

  mutating func clamp(to frame: FrameSize) {
    self.left = max(self.left, 0)
    self.top = max(self.top, 0)
    self.right = min(self.right, frame.width)
    self.bottom = min(self.bottom, frame.height)
  }
}

/// The pixels of a text, and their place in the frame.
@safe
private struct Canvas {
  let picture: ctext_picture
  let left: Int
  let top: Int

  /// The rectangle of the frame.
  var bounds: Bounds {
    unsafe Bounds(
      left: self.left, top: self.top, right: self.left + Int(self.picture.width),
      bottom: self.top + Int(self.picture.height))
  }
}

/// The coverage of some glyphs.
@safe
private final class Mask {
  let picture: ctext_picture
  /// The place of the top left pixel in the frame.
  private let left: Int
  private let top: Int
  private let pixels: UnsafeMutableBufferPointer<UInt8>

  /// Creates an empty mask of a rectangle, which is not empty.
  init(_ bounds: Bounds) {
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

  /// Adds the coverage of a glyph whose top left pixel is at a place in the frame.
  func add(_ glyph: Face.Glyph, _ x: Int, _ y: Int, _ scale: Double) {
    var bitmap = unsafe glyph.bitmap
    let (column, row) = (x - self.left, y - self.top)
    guard unsafe bitmap.is_color != 0 else {
      unsafe ctext_mask_add(self.picture, &bitmap, Int32(column), Int32(row))
      return
    }
    var mask = unsafe self.picture
    unsafe ctext_draw_bitmap(
      mask, &mask, &bitmap, Double(column), Double(row), Double(bitmap.width) * scale,
      Double(bitmap.height) * scale, 1)
  }

  /// Draws a colour where the mask covers, displaced.
  func draw(_ color: RGBAColor, on canvas: Canvas, x: Int, y: Int) {
    unsafe ctext_draw_mask(
      canvas.picture, self.picture, Int32(self.left + x - canvas.left),
      Int32(self.top + y - canvas.top), PlateRenderer.premultiplied(color))
  }
}
