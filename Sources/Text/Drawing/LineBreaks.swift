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
