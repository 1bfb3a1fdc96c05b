import CText
import SidelightKernels

/// Draws one text: lays it out, renders its glyphs, and combines box, shadow, outline and letters.
struct CaptionRenderer {
  let request: TextRequest
  let fonts: FontChoice

  private var style: TextStyle { self.request.style }
  private var hasBox: Bool { self.style.boxColor.alpha > 0 }
  private var shadow: CaptionShadow? { CaptionShadow(self.style) }
  private var hasOutline: Bool {
    self.style.outlineWidth > 0 && self.style.outlineColor.alpha > 0
  }

  /// Draws the text.
  ///
  /// - Returns: `nil` if the text is outside the frame.
  func render(_ faces: inout FaceSet) throws(TextError) -> TextCaption? {
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
    let box = CaptionBounds(
      left: Int(left), top: Int(top), right: Int(left + width), bottom: Int(top + height))
    var bounds = self.hasBox ? box : CaptionBounds.empty
    let glyphs = drawing.letters + drawing.outlines
    for glyph in glyphs { bounds.formUnion(glyph.bounds) }
    if let shadow { bounds.formUnion(shadow.bounds(of: glyphs)) }
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
  ) throws(TextError) -> (letters: [CaptionGlyph], outlines: [CaptionGlyph]) {
    var letters: [CaptionGlyph] = []
    var outlines: [CaptionGlyph] = []
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
      let left64 = Int(((left + indent) * 64).rounded())
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
  ) throws(TextError) -> CaptionGlyph? {
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
      return unsafe CaptionGlyph(
        image: image, x: column + Int(bitmap.left), y: baseline - row - Int(bitmap.top), scale: 1)
    }
    let scale = self.style.size / face.strikeSize(for: self.style.size)
    let drawn = unsafe CaptionGlyph(
      image: image, x: column + Int((Double(bitmap.left) * scale).rounded()),
      y: baseline - row - Int((Double(bitmap.top) * scale).rounded()), scale: scale)
    // Computes every pixel of the frame, and of the shadow's mask, that the picture covers.
    let canvas = CaptionBounds(left: 0, top: 0, right: frame.width, bottom: frame.height)
    let covered = drawn.bounds
    try Self.charge(covered.intersection(canvas).pixelCount, to: &pixels)
    if let shadow {
      try Self.charge(covered.intersection(shadow.source(of: canvas)).pixelCount, to: &pixels)
    }
    return drawn
  }

  /// Subtracts pixels from the number that may still be rendered.
  private static func charge(_ count: Int, to pixels: inout Int) throws(TextError) {
    pixels -= count
    guard pixels >= 0 else {
      throw TextError(
        "the text's glyphs have more than \(TextLimits.maxGlyphPixels) pixels; reduce the size or "
          + "the text", limit: TextLimits.maxGlyphPixels)
    }
  }

  // MARK: Pixels

  private func compose(
    _ letters: [CaptionGlyph], _ outlines: [CaptionGlyph], _ bounds: CaptionBounds,
    box: (left: Double, top: Double, right: Double, bottom: Double)
  ) throws(TextError) -> TextCaption {
    let size = FrameSize(width: bounds.right - bounds.left, height: bounds.bottom - bounds.top)
    var pixels = [UInt8](repeating: 0, count: 4 * size.pixelCount)
    var failure: TextError?
    unsafe pixels.withUnsafeMutableBufferPointer { pixels in
      guard let start = pixels.baseAddress else { return }
      let canvas = unsafe CaptionCanvas(
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
    return TextCaption(x: bounds.left, y: bounds.top, size: size, pixels: pixels)
  }

  private func draw(
    _ letters: [CaptionGlyph], _ outlines: [CaptionGlyph],
    _ box: (left: Double, top: Double, right: Double, bottom: Double), _ canvas: CaptionCanvas
  ) throws(TextError) {
    if self.hasBox {
      let (x, y) = (Double(canvas.left), Double(canvas.top))
      unsafe ctext_draw_box(
        canvas.picture, box.left - x, box.top - y, box.right - x, box.bottom - y,
        self.style.boxRadius, Self.premultiplied(self.style.boxColor))
    }
    if let shadow { try shadow.draw(of: letters + outlines, on: canvas) }
    if self.hasOutline {
      let mask = CaptionMask(canvas.bounds)
      for glyph in outlines { mask.add(glyph) }
      mask.draw(self.style.outlineColor, on: canvas, x: 0, y: 0)
    }
    let mask = CaptionMask(canvas.bounds)
    for glyph in letters where unsafe glyph.image.bitmap.is_color == 0 {
      mask.add(glyph)
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

  static func premultiplied(_ color: RGBAColor) -> [Float] {
    let alpha = Float(color.alpha)
    return [
      Float(color.red) * alpha, Float(color.green) * alpha, Float(color.blue) * alpha, alpha,
    ]
  }
}

/// A rendered glyph at its place in the frame.
struct CaptionGlyph {
  let image: Face.Glyph
  /// The top left pixel.
  let x: Int
  let y: Int
  /// The factor from the glyph's pixels to the frame's; 1 except for pictures in colour.
  let scale: Double

  /// The pixels of the frame that the glyph covers.
  var bounds: CaptionBounds {
    let bitmap = unsafe self.image.bitmap
    return unsafe CaptionBounds(
      left: self.x, top: self.y,
      right: self.x + Int((Double(bitmap.width) * self.scale).rounded(.up)),
      bottom: self.y + Int((Double(bitmap.height) * self.scale).rounded(.up)))
  }
}
