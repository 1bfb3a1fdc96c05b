import CText
import SidelightKernels

/// The glyphs of a text at their places in a block of lines.
struct TextLayout {
  /// A glyph at its position.
  struct PlacedGlyph {
    let glyph: UInt32
    let font: FontFile
    /// The distance of its origin from the line's left end, in 1/64 pixel.
    var x: Int
    /// The distance of its origin above the baseline, in 1/64 pixel.
    let y: Int
  }

  /// A line of glyphs.
  struct Line {
    var glyphs: [PlacedGlyph]
    /// The width in 1/64 pixel.
    let width: Int
    /// The distances of its ink from the baseline in 1/64 pixel.
    let ascent: Int
    let descent: Int
    /// Whether its paragraph begins at the right.
    let isRightToLeft: Bool
    /// The distance of its baseline from the top of the block in pixels.
    var baseline = 0.0
  }

  let lines: [Line]
  /// The width of the widest line in pixels.
  let width: Double
  /// The height of the lines in pixels.
  let height: Double

  /// Lays a text out.
  ///
  /// - Throws: ``TextError`` for a damaged font, or too many glyphs.
  init(
    _ text: String, _ style: TextStyle, maxWidth: Double, _ fonts: FontChoice,
    _ faces: inout FaceSet
  ) throws(TextError) {
    var breaker = LineBreaker(style: style, maxWidth: maxWidth, fonts: fonts)
    let paragraphs = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, paragraph) in paragraphs.enumerated() {
      try breaker.append(paragraph, isLast: index == paragraphs.count - 1, &faces)
      if breaker.isFull { break }
    }
    var lines = breaker.lines
    let metrics = fonts.primary.properties
    let natural = (metrics.ascent + metrics.descent + metrics.lineGap) * style.size
    let step = natural * style.lineSpacing
    var top = 0.0
    var descent = 0.0
    for index in lines.indices {
      // Letters that are higher than the letters of the text's own font need more room.
      let ascent = max(metrics.ascent * style.size, Double(lines[index].ascent) / 64)
      let last = descent
      descent = max(metrics.descent * style.size, Double(lines[index].descent) / 64)
      top = index == 0 ? ascent : top + max(step, last + ascent - max(0, natural - step))
      lines[index].baseline = top
    }
    self.lines = lines
    self.width = Double(lines.map(\.width).max() ?? 0) / 64
    self.height = lines.isEmpty ? 0 : top + descent
  }
}

/// A divider of paragraphs into lines of glyphs.
struct LineBreaker {
  let style: TextStyle
  private let maxWidth: Int
  private let size: Int
  private let fonts: FontChoice
  private(set) var lines: [TextLayout.Line] = []
  private var glyphCount = 0

  /// - Parameter maxWidth: The maximum width of a line in pixels.
  init(style: TextStyle, maxWidth: Double, fonts: FontChoice) {
    self.style = style
    self.maxWidth = Int(min(max(maxWidth, 1), 65536) * 64)
    self.size = Int((style.size * 64).rounded())
    self.fonts = fonts
  }

  /// Whether the maximum number of lines is reached.
  var isFull: Bool { self.lines.count >= self.style.maxLines }

  /// Appends a paragraph. The last line that fits ends with an ellipsis if text is left out.
  mutating func append(
    _ text: Substring, isLast: Bool, _ faces: inout FaceSet
  ) throws(TextError) {
    let paragraph = try Paragraph(text, self.fonts, &faces)
    let widths = try self.widths(of: paragraph, &faces)
    var start = 0
    repeat {
      let end = self.lineEnd(paragraph, widths, from: start)
      let isLastLine = self.lines.count == self.style.maxLines - 1
      if isLastLine, end < paragraph.clusters.count || !isLast {
        return try self.appendEllipsis(paragraph, widths, from: start, &faces)
      }
      try self.appendLine(paragraph, start ..< end, &faces)
      start = end
      while start < paragraph.clusters.count, paragraph.clusters[start].isSpace { start += 1 }
    } while start < paragraph.clusters.count && !self.isFull
  }

  /// Returns the widths of characters in 1/64 pixel.
  private mutating func widths(
    of paragraph: Paragraph, _ faces: inout FaceSet
  ) throws(TextError) -> [Int] {
    var byScalar = [Int](repeating: 0, count: paragraph.scalars.count)
    for run in self.runs(of: paragraph, 0 ..< paragraph.clusters.count) {
      for glyph in try self.shape(run, paragraph, &faces) where Int(glyph.cluster) < byScalar.count
      {
        byScalar[Int(glyph.cluster)] += Int(glyph.advance)
      }
    }
    return paragraph.clusters.map { byScalar[$0.scalars].reduce(0, +) }
  }

  /// Returns the first character after a line.
  private func lineEnd(_ paragraph: Paragraph, _ widths: [Int], from start: Int) -> Int {
    var width = 0
    var lastBreak = start
    for index in start ..< paragraph.clusters.count {
      if index > start,
        LineBreaks.isAllowed(
          paragraph.clusters[index - 1], paragraph.clusters[index], in: paragraph.scalars)
      {
        lastBreak = index
      }
      width += widths[index]
      if width > self.maxWidth, !paragraph.clusters[index].isSpace {
        // A word that is wider than a line breaks between characters.
        return lastBreak > start ? lastBreak : max(index, start + 1)
      }
    }
    return paragraph.clusters.count
  }

  private mutating func appendLine(
    _ paragraph: Paragraph, _ clusters: Range<Int>, _ faces: inout FaceSet
  ) throws(TextError) {
    var end = clusters.upperBound
    while end > clusters.lowerBound, paragraph.clusters[end - 1].isSpace { end -= 1 }
    let runs = Self.visualOrder(self.runs(of: paragraph, clusters.lowerBound ..< end))
    var glyphs: [TextLayout.PlacedGlyph] = []
    var (ascent, descent) = (0, 0)
    var x = 0
    for run in runs {
      for glyph in try self.shape(run, paragraph, &faces) {
        glyphs.append(
          TextLayout.PlacedGlyph(
            glyph: glyph.glyph, font: run.font, x: x + Int(glyph.x_offset),
            y: Int(glyph.y_offset)))
        x += Int(glyph.advance)
        guard run.font.properties.isScalable else { continue }
        ascent = max(ascent, Int(glyph.ascent))
        descent = max(descent, Int(glyph.descent))
      }
    }
    self.glyphCount += glyphs.count
    guard self.glyphCount <= TextLimits.maxGlyphs else {
      throw TextError(
        "the text has more than \(TextLimits.maxGlyphs) glyphs in this font; shorten it",
        limit: TextLimits.maxGlyphs)
    }
    self.lines.append(
      TextLayout.Line(
        glyphs: glyphs, width: max(x, 0), ascent: ascent, descent: descent,
        isRightToLeft: paragraph.isRightToLeft))
  }

  /// Appends as much of a paragraph as fits with an ellipsis.
  private mutating func appendEllipsis(
    _ paragraph: Paragraph, _ widths: [Int], from start: Int, _ faces: inout FaceSet
  ) throws(TextError) {
    let mark = try Paragraph("\u{2026}", self.fonts, &faces)
    var left = self.maxWidth - (try self.widths(of: mark, &faces)).reduce(0, +)
    var end = start
    while end < paragraph.clusters.count, widths[end] <= left {
      left -= widths[end]
      end += 1
    }
    while end > start, paragraph.clusters[end - 1].isSpace { end -= 1 }
    var text = String.UnicodeScalarView()
    if start < end {
      let range =
        paragraph.clusters[start].scalars.lowerBound
        ..< paragraph.clusters[end - 1].scalars.upperBound
      text.append(contentsOf: paragraph.scalars[range].compactMap(Unicode.Scalar.init))
    }
    text.append("\u{2026}")
    let line = try Paragraph(Substring(String(text)), self.fonts, &faces)
    try self.appendLine(line, 0 ..< line.clusters.count, &faces)
  }

  // MARK: Runs

  /// Characters of one font, script and direction.
  private struct Run {
    var scalars: Range<Int>
    let font: FontFile
    let script: UInt32
    let level: Int8
  }

  private func runs(of paragraph: Paragraph, _ clusters: Range<Int>) -> [Run] {
    var runs: [Run] = []
    for cluster in paragraph.clusters[clusters] {
      let level = paragraph.levels[cluster.scalars.lowerBound]
      if let last = runs.last, last.font === cluster.font, last.script == cluster.script,
        last.level == level
      {
        runs[runs.count - 1].scalars = last.scalars.lowerBound ..< cluster.scalars.upperBound
      } else {
        runs.append(
          Run(scalars: cluster.scalars, font: cluster.font, script: cluster.script, level: level))
      }
    }
    return runs
  }

  private func shape(
    _ run: Run, _ paragraph: Paragraph, _ faces: inout FaceSet
  ) throws(TextError) -> [ctext_glyph] {
    let face = try faces.face(of: run.font)
    return try face.shape(
      paragraph.scalars, run.scalars, size: self.size,
      isRightToLeft: !run.level.isMultiple(of: 2), script: run.script,
      hasTabularDigits: self.style.hasTabularDigits)
  }

  /// Returns runs from left to right: rule L2 of the Unicode bidirectional algorithm.
  private static func visualOrder(_ runs: [Run]) -> [Run] {
    var runs = runs
    guard let highest = runs.map(\.level).max(),
      let lowestOdd = runs.map(\.level).filter({ !$0.isMultiple(of: 2) }).min()
    else { return runs }
    for level in stride(from: highest, through: lowestOdd, by: -1) {
      var index = 0
      while index < runs.count {
        guard runs[index].level >= level else {
          index += 1
          continue
        }
        let end = runs[index...].firstIndex { $0.level < level } ?? runs.count
        runs[index ..< end].reverse()
        index = end
      }
    }
    return runs
  }
}

/// The positions at which a line may break.
///
/// A line breaks after white space, after hyphens and dashes, and between the characters of Chinese
/// and Japanese, but not before closing and not after opening punctuation. That is a small part of
/// Unicode's line breaking algorithm (UAX 14). Thai, Lao, Khmer and Burmese, which need a
/// dictionary to separate words, break at spaces.
enum LineBreaks {
  /// Returns whether a line may break between two characters of a paragraph.
  static func isAllowed(_ before: Paragraph.Cluster, _ after: Paragraph.Cluster, in text: [UInt32])
    -> Bool
  {
    if after.isSpace { return false }
    if before.isSpace { return true }
    let (last, next) = (text[before.scalars.lowerBound], text[after.scalars.lowerBound])
    if Self.hyphens.contains(last) { return !Self.isDigit(next) }
    guard Self.isIdeographic(before.script, last) || Self.isIdeographic(after.script, next) else {
      return false
    }
    return !Self.isOpening(last) && !Self.isClosing(next)
  }

  private static let hyphens: Set<UInt32> = [0x2D, 0x2010, 0x2012, 0x2013, 0x2014, 0x200B]

  private static func isDigit(_ character: UInt32) -> Bool { (0x30 ... 0x39).contains(character) }

  /// Han, Hiragana, Katakana, Bopomofo, and the punctuation among them.
  private static func isIdeographic(_ script: UInt32, _ character: UInt32) -> Bool {
    [0x4861_6E69, 0x4869_7261, 0x4B61_6E61, 0x426F_706F].contains(script)
      && character >= 0x2E80
  }

  private static func isOpening(_ character: UInt32) -> Bool {
    guard let scalar = Unicode.Scalar(character) else { return false }
    let category = scalar.properties.generalCategory
    return category == .openPunctuation || category == .initialPunctuation
  }

  private static func isClosing(_ character: UInt32) -> Bool {
    guard let scalar = Unicode.Scalar(character) else { return false }
    switch scalar.properties.generalCategory {
    case .closePunctuation, .finalPunctuation, .otherPunctuation: return true
    default: return Self.smallKana.contains(character)
    }
  }

  /// Characters of Japanese that do not begin a line.
  private static let smallKana = Set(
    "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶーゝゞヽヾ々".unicodeScalars.map(\.value))
}
