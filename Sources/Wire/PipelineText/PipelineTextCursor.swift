import SidelightKernels

/// A position in the text of a pipeline that moves past its tokens.
struct PipelineTextCursor {
  /// The whole text.
  let text: String
  /// The offset from the start of the text, in bytes.
  private(set) var offset = 0

  private let bytes: [UInt8]

  init(_ text: String) {
    self.text = text
    self.bytes = Array(text.utf8)
  }

  var count: Int { self.bytes.count }

  /// The byte at the cursor, or `nil` at the end.
  var current: UInt8? { self.offset < self.bytes.count ? self.bytes[self.offset] : nil }

  /// A description of the character at the cursor, for messages.
  var found: String {
    guard self.current != nil else { return "the end" }
    // A character has at most a few dozen bytes, unless it has unusually many combining marks.
    let character = String(decoding: self.bytes[self.offset...].prefix(64), as: UTF8.self).first
    guard let character, let scalar = character.unicodeScalars.first else { return "the end" }
    return scalar.properties.generalCategory == .control
      ? "control character \(scalar.value)" : "'\(character)'"
  }

  /// Returns an error at the cursor or at another offset.
  ///
  /// - Parameter value: The invalid value, if it violates a limit.
  func error(
    _ message: String, at offset: Int? = nil, value: Int? = nil, limit: Int? = nil
  ) -> PipelineTextError {
    PipelineTextError(
      text: self.text, utf8Offset: offset ?? self.offset, message: message,
      value: value.map { "\($0)" }, limit: limit.map { "\($0)" })
  }

  /// Moves back to an earlier offset.
  mutating func rewind(to offset: Int) {
    self.offset = offset
  }

  /// Moves past spaces and line breaks.
  mutating func skipSpace() {
    while let byte = self.current, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { self.offset += 1 }
  }

  /// Moves past space, and past an ASCII character if it follows.
  ///
  /// - Returns: Whether the character follows.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    self.skipSpace()
    guard let byte = self.current, UInt32(byte) == character.value else { return false }
    self.offset += 1
    return true
  }

  /// Moves past bytes that satisfy a condition, and returns them.
  mutating func take(while isIncluded: (UInt8) -> Bool) -> String {
    let start = self.offset
    while let byte = self.current, isIncluded(byte) { self.offset += 1 }
    return String(decoding: self.bytes[start ..< self.offset], as: UTF8.self)
  }

  /// Moves past a word, and returns it, if one begins here.
  mutating func takeWord() -> String? {
    guard let byte = self.current, Self.startsWord(byte) else { return nil }
    return self.take(while: Self.continuesWord)
  }

  /// Moves past a quoted text, and returns its contents, if one begins here.
  ///
  /// - Throws: ``PipelineTextError`` for a text without a closing quote or an unknown escape.
  mutating func takeQuoted() throws(PipelineTextError) -> String? {
    let start = self.offset
    guard self.current == UInt8(ascii: "\"") else { return nil }
    self.offset += 1
    var content = ""
    while true {
      content += self.take { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
      switch self.current {
      case nil: throw self.error("the text that starts here has no closing quote", at: start)
      case UInt8(ascii: "\\"): content.unicodeScalars.append(try self.takeEscape())
      default:
        self.offset += 1
        return content
      }
    }
  }

  private mutating func takeEscape() throws(PipelineTextError) -> Unicode.Scalar {
    let start = self.offset
    self.offset += 1
    let letter = self.current
    if letter != nil { self.offset += 1 }
    switch letter {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      if self.current == UInt8(ascii: "{") {
        self.offset += 1
        let digits = self.take { Character(Unicode.Scalar($0)).isHexDigit }
        if self.current == UInt8(ascii: "}"), let value = UInt32(digits, radix: 16),
          let scalar = Unicode.Scalar(value)
        {
          self.offset += 1
          return scalar
        }
      }
      throw self.error("expected a character's number, as in \\u{e9}", at: start)
    default:
      throw self.error("expected one of the escapes \\\" \\\\ \\n \\r \\t \\u{...}", at: start)
    }
  }

  /// Returns the offset in a valid text of a byte of a value: of a word, or of the contents of a
  /// quoted text, whose escapes are longer than their characters.
  ///
  /// - Parameter byte: The offset in the contents.
  static func offset(ofByte byte: Int, ofValueAt start: Int, in text: [UInt8]) -> Int {
    guard start < text.count, text[start] == UInt8(ascii: "\"") else { return start + byte }
    var (offset, seen) = (start + 1, 0)
    while seen < byte, offset + 1 < text.count, text[offset] != UInt8(ascii: "\"") {
      guard text[offset] == UInt8(ascii: "\\") else {
        (offset, seen) = (offset + 1, seen + 1)
        continue
      }
      offset += 2
      guard text[offset - 1] == UInt8(ascii: "u") else {
        seen += 1
        continue
      }
      let digits = text[offset...].dropFirst().prefix { $0 != UInt8(ascii: "}") }
      let scalar = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        .flatMap(Unicode.Scalar.init)
      seen += scalar.map { String(Character($0)).utf8.count } ?? 1
      offset += digits.count + 2
    }
    return offset
  }

  /// Returns whether a text is a valid name without quotes.
  static func isWord(_ text: String) -> Bool {
    guard let first = text.utf8.first else { return false }
    return self.startsWord(first) && text.utf8.allSatisfy(self.continuesWord)
  }

  private static func startsWord(_ byte: UInt8) -> Bool {
    byte.isLetter || byte == UInt8(ascii: "_")
  }

  private static func continuesWord(_ byte: UInt8) -> Bool {
    self.startsWord(byte) || byte.isDigit || "-.".utf8.contains(byte)
  }
}
