/// A character of a text.
public struct TextPosition: Sendable, Hashable {
  /// The line, from 1.
  public let line: Int
  /// The character in the line, from 1.
  public let column: Int
  /// The offset in bytes of UTF-8, from 0.
  public let utf8Offset: Int

  package init(line: Int, column: Int, utf8Offset: Int) {
    self.line = line
    self.column = column
    self.utf8Offset = utf8Offset
  }

  /// Creates a position from an offset in bytes. Lines end with line feeds.
  package init(offset: Int, in text: [UInt8]) {
    self.utf8Offset = min(max(offset, 0), text.count)
    let before = text[..<self.utf8Offset]
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    self.line = 1 + before.count { $0 == UInt8(ascii: "\n") }
    self.column = 1 + String(decoding: before[start...], as: UTF8.self).count
  }
}
