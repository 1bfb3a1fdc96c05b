import CText
import SidelightKernels

/// A paragraph as characters, with the properties that shaping needs.
struct Paragraph {
  /// A user-perceived character.
  struct Cluster {
    /// The positions of its Unicode scalars.
    let scalars: Range<Int>
    /// The font that has glyphs for it.
    let font: FontFile
    /// The script in ISO 15924, big endian.
    var script: UInt32
    /// Whether it is white space at which a line may break.
    let isSpace: Bool
  }

  /// The Unicode scalars.
  let scalars: [UInt32]
  let clusters: [Cluster]
  /// The level of every scalar in the Unicode bidirectional algorithm.
  let levels: [Int8]
  let isRightToLeft: Bool

  /// Analyses a paragraph.
  ///
  /// - Throws: ``TextError`` if a font cannot be opened.
  init(
    _ text: Substring, _ fonts: FontChoice, _ faces: inout FaceSet
  ) throws(TextError) {
    var scalars: [UInt32] = []
    var clusters: [Cluster] = []
    var script = Self.common
    for character in text {
      let start = scalars.count
      scalars += character.unicodeScalars.map(\.value)
      let own = Self.script(of: character)
      if own != Self.common { script = own }
      let font = try fonts.font(
        for: character, script: own == Self.common ? script : own, after: clusters.last?.font,
        &faces)
      clusters.append(
        Cluster(
          scalars: start ..< scalars.count, font: font, script: own,
          isSpace: character.isWhitespace && !Self.glue.contains(character)))
    }
    Self.inheritScripts(&clusters)
    self.scalars = scalars
    self.clusters = clusters
    var levels = [Int8](repeating: 0, count: scalars.count)
    var isRightToLeft: Int32 = 0
    let result = unsafe ctext_levels(scalars, Int32(scalars.count), &levels, &isRightToLeft)
    guard result == CTEXT_OK else { throw TextError("there is not enough memory for the text") }
    self.levels = levels
    self.isRightToLeft = isRightToLeft != 0
  }

  /// Spaces that don't break lines.
  private static let glue: Set<Character> = ["\u{A0}", "\u{202F}", "\u{2007}"]
  /// The script of characters that all scripts share: Zyyy.
  static let common: UInt32 = 0x5A79_7979
  /// The script of marks, which have the script of their letter: Zinh.
  private static let inherited: UInt32 = 0x5A69_6E68
  /// The script of unassigned characters: Zzzz.
  private static let unknown: UInt32 = 0x5A7A_7A7A

  private static func script(of character: Character) -> UInt32 {
    for scalar in character.unicodeScalars {
      let script = ctext_script(scalar.value)
      if script != Self.common, script != Self.inherited, script != Self.unknown { return script }
    }
    return Self.common
  }

  /// Gives shared characters, such as spaces and digits, the script of the characters before them,
  /// or at the start the first script that follows.
  private static func inheritScripts(_ clusters: inout [Cluster]) {
    var script = clusters.first { $0.script != Self.common }?.script ?? Self.common
    for index in clusters.indices {
      if clusters[index].script == Self.common {
        clusters[index].script = script
      } else {
        script = clusters[index].script
      }
    }
  }
}

/// The choice of a font per character: the text's own font, or one for characters it lacks.
struct FontChoice {
  /// The text's own font.
  let primary: FontFile
  let collection: FontCollection
  let isBold: Bool

  /// Returns the font of a character.
  ///
  /// - Parameter last: The font of the character before it.
  func font(
    for character: Character, script: UInt32, after last: FontFile?, _ faces: inout FaceSet
  ) throws(TextError) -> FontFile {
    let visible = character.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
      .map(\.value).filter { $0 >= 0x20 }
    if Self.isEmoji(character), let emoji = self.collection.emoji,
      try Self.covers(emoji, visible.filter { $0 != 0x20E3 }, &faces)
    {
      return emoji
    }
    // A space between characters of another font belongs to them.
    if character.isWhitespace, let last, try Self.covers(last, visible, &faces),
      !last.properties.hasColor
    {
      return last
    }
    if try Self.covers(self.primary, visible, &faces) { return self.primary }
    for font in self.collection.fallbacks(script: script, isBold: self.isBold) {
      if try Self.covers(font, visible, &faces) { return font }
    }
    if let emoji = self.collection.emoji, try Self.covers(emoji, visible, &faces) { return emoji }
    return self.primary
  }

  private static func covers(
    _ font: FontFile, _ characters: [UInt32], _ faces: inout FaceSet
  ) throws(TextError) -> Bool {
    let face = try faces.face(of: font)
    return characters.allSatisfy(face.has)
  }

  /// Whether a character is shown as a picture.
  private static func isEmoji(_ character: Character) -> Bool {
    guard let first = character.unicodeScalars.first else { return false }
    if first.properties.isEmojiPresentation {
      // U+FE0E selects the text form.
      return !character.unicodeScalars.contains("\u{FE0E}")
    }
    return first.properties.isEmoji
      && character.unicodeScalars.contains { $0 == "\u{FE0F}" || $0 == "\u{20E3}" }
  }
}
