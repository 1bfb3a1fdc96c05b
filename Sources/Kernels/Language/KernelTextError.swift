/// An error in the text of a kernel, with its position.
public struct KernelTextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The position of the error.
  public let position: TextPosition
  /// The error in one sentence, with the expected and the found text.
  public let message: String
  /// The nearest existing name, if a name is unknown.
  public let suggestion: String?
  /// The invalid value, for programs; `nil` if the message does not state one.
  public let value: String?
  /// The limit that the value violates, for programs; `nil` if there is none.
  public let limit: String?

  /// Creates an error at an offset in bytes. An offset beyond the text counts as its end.
  init(
    _ message: String, in text: [UInt8], at offset: Int, suggestion: String? = nil,
    value: String? = nil, limit: String? = nil
  ) {
    self.position = TextPosition(offset: offset, in: text)
    self.message = message
    self.suggestion = suggestion
    self.value = value
    self.limit = limit
  }

  /// The position, the message, and the nearest name.
  public var description: String {
    let hint = self.suggestion.map { "; did you mean \($0)?" } ?? ""
    return "line \(self.position.line), column \(self.position.column): \(self.message)\(hint)"
  }
}

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
  init(offset: Int, in text: [UInt8]) {
    self.utf8Offset = min(max(offset, 0), text.count)
    let before = text[..<self.utf8Offset]
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    self.line = 1 + before.count { $0 == UInt8(ascii: "\n") }
    self.column = 1 + String(decoding: before[start...], as: UTF8.self).count
  }
}
