import SidelightKernels

/// A token of a kernel's text.
struct KernelToken {
  /// The kind of a token, with its value.
  enum Kind: Equatable {
    case number(Double)
    /// The four channels of `#rrggbb` or `#rrggbbaa`, 0 ... 1.
    case color([Double])
    /// A name or a keyword.
    case word(String)
    /// A text between quotes.
    case text(String)
    /// An operator or a bracket: `+`, `<=`, `..<`.
    case symbol(String)
    case end
  }

  let kind: Kind
  /// The offset of the first byte.
  let offset: Int

  /// The token in messages.
  var found: String {
    switch self.kind {
    case .number: "a number"
    case .color: "a colour"
    case .word(let word): "'\(word.clipped(toBytes: 40))'"
    case .text: "a text"
    case .symbol(let symbol): "'\(symbol)'"
    case .end: "the end"
    }
  }
}

/// A reader of tokens. Spaces, line breaks, and comments (`// ...` to the end of the line, and
/// `/* ... */`) only separate tokens.
struct KernelLexer {
  let bytes: [UInt8]
  private var offset = 0

  /// The symbols of several characters, the longest first.
  private static let longSymbols = [
    "..<", "...", "<=", ">=", "==", "!=", "&&", "||", "..", "->", "+=", "-=", "*=", "/=",
  ]

  /// The units of lengths, which may follow a number at once.
  private static let units = ["px", "w", "h", "min"]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  private var current: UInt8? { self.peek(0) }

  private func peek(_ distance: Int) -> UInt8? {
    self.offset + distance < self.bytes.count ? self.bytes[self.offset + distance] : nil
  }

  /// Returns the next token; `end` at the end.
  ///
  /// - Throws: ``KernelTextError`` for a character that doesn't begin a token.
  mutating func next() throws(KernelTextError) -> KernelToken {
    try self.skipSpace()
    let start = self.offset
    guard let byte = self.current else { return KernelToken(kind: .end, offset: start) }
    let kind: KernelToken.Kind
    switch byte {
    case _ where Self.startsWord(byte):
      kind = .word(self.take { Self.startsWord($0) || $0.isDigit })
    case _ where byte.isDigit:
      kind = .number(try self.takeNumber())
    case UInt8(ascii: ".") where self.peek(1).map(\.isDigit) ?? false:
      kind = .number(try self.takeNumber())
    case UInt8(ascii: "#"):
      kind = .color(try self.takeColor())
    case UInt8(ascii: "\""):
      kind = .text(try self.takeText())
    default:
      kind = .symbol(try self.takeSymbol())
    }
    return KernelToken(kind: kind, offset: start)
  }

  private mutating func skipSpace() throws(KernelTextError) {
    while let byte = self.current {
      switch (byte, self.peek(1)) {
      case (0x20, _), (0x09, _), (0x0A, _), (0x0D, _):
        self.offset += 1
      case (UInt8(ascii: "/"), UInt8(ascii: "/")):
        _ = self.take { $0 != UInt8(ascii: "\n") }
      case (UInt8(ascii: "/"), UInt8(ascii: "*")):
        let start = self.offset
        self.offset += 2
        while self.current != nil,
          self.current != UInt8(ascii: "*") || self.peek(1) != UInt8(ascii: "/")
        {
          self.offset += 1
        }
        guard self.current != nil else {
          throw self.error("the comment that starts here has no end: */", at: start)
        }
        self.offset += 2
      default:
        return
      }
    }
  }

  private mutating func take(while isIncluded: (UInt8) -> Bool) -> String {
    let start = self.offset
    while let byte = self.current, isIncluded(byte) { self.offset += 1 }
    return String(decoding: self.bytes[start ..< self.offset], as: UTF8.self)
  }

  /// Reads digits, a fraction and an exponent. Two dots are a range, which ends a number.
  private mutating func takeNumber() throws(KernelTextError) -> Double {
    let start = self.offset
    var digits = self.take(while: \.isDigit)
    if self.current == UInt8(ascii: "."), self.peek(1) != UInt8(ascii: ".") {
      self.offset += 1
      digits += ".\(self.take(while: \.isDigit))"
    }
    let sign = self.peek(1).map { "+-".utf8.contains($0) } ?? false
    if let letter = self.current, "eE".utf8.contains(letter),
      self.peek(sign ? 2 : 1).map(\.isDigit) ?? false
    {
      self.offset += 1
      digits += "e" + self.take { "+-".utf8.contains($0) } + self.take(while: \.isDigit)
    }
    // A suffix of GLSL's and C's numbers.
    if let letter = self.current, "fF".utf8.contains(letter) { self.offset += 1 }
    let isUnit = Self.units.contains { unit in
      self.bytes[self.offset...].starts(with: unit.utf8)
        && !(self.peek(unit.utf8.count).map { Self.startsWord($0) || $0.isDigit } ?? false)
    }
    if let letter = self.current, Self.startsWord(letter), !isUnit {
      throw self.error("a number ends before a name: write '*' between them", at: self.offset)
    }
    if digits.hasPrefix(".") { digits = "0" + digits }
    if digits.hasSuffix(".") { digits += "0" }
    guard digits.utf8.count <= 64, let number = Double(digits.replacing(".e", with: ".0e")),
      abs(number) <= 1e30
    else {
      throw self.error(
        "'\(digits.clipped(toBytes: 40))' is not a number of at most 1e30 and 64 characters",
        at: start)
    }
    return number
  }

  private mutating func takeColor() throws(KernelTextError) -> [Double] {
    let start = self.offset
    self.offset += 1
    let digits = self.take { Self.startsWord($0) || $0.isDigit }
    let count = digits.utf8.count
    guard count == 6 || count == 8, let value = UInt32(digits, radix: 16) else {
      throw self.error("expected a colour: # and 6 or 8 hexadecimal digits", at: start)
    }
    let rgba = count == 6 ? value << 8 | 0xFF : value
    return [24, 16, 8, 0].map { Double(rgba >> UInt32($0) & 0xFF) / 255 }
  }

  private mutating func takeText() throws(KernelTextError) -> String {
    let start = self.offset
    self.offset += 1
    let text = self.take { $0 != UInt8(ascii: "\"") && $0 >= 0x20 }
    guard self.current == UInt8(ascii: "\"") else {
      throw self.error("the text that starts here has no closing quote on its line", at: start)
    }
    self.offset += 1
    return text
  }

  private mutating func takeSymbol() throws(KernelTextError) -> String {
    let rest = self.bytes[self.offset...]
    if let symbol = Self.longSymbols.first(where: { rest.starts(with: $0.utf8) }) {
      self.offset += symbol.utf8.count
      return symbol
    }
    let character = String(decoding: self.bytes[self.offset...].prefix(32), as: UTF8.self).first
    guard let character, "+-*/%<>!?:=(){}[].,;".contains(character) else {
      let shown = character.map { $0.isASCII && !$0.isLetter && $0 < " " ? "?" : "\($0)" } ?? "?"
      throw self.error(
        "'\(shown.clipped(toBytes: 32))' has no meaning in a kernel", at: self.offset)
    }
    self.offset += 1
    return String(character)
  }

  func error(_ message: String, at offset: Int) -> KernelTextError {
    KernelTextError(message, in: self.bytes, at: offset)
  }

  private static func startsWord(_ byte: UInt8) -> Bool {
    byte.isLetter || byte == UInt8(ascii: "_")
  }
}
