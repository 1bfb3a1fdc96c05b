public import SidelightKernels

/// What is wrong with a pipeline's text, and at which character.
public struct PipelineTextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The whole text.
  public let text: String
  /// Where the fault lies: bytes from the start of the text in UTF-8, `0 ... text.utf8.count`.
  public let utf8Offset: Int
  /// The line that the fault is in, from 1.
  public let line: Int
  /// The character of the line, from 1.
  public let column: Int
  /// What was expected and what was found, in one sentence.
  public let message: String
  /// The nearest name that exists, for faults of spelling.
  public let suggestion: String?
  /// The catalogue's complaint, if it was the catalogue's.
  public let cause: PipelineError?

  /// Points at an offset of a text. An offset beyond the text counts as its end.
  init(
    text: String, utf8Offset: Int, message: String, suggestion: String? = nil,
    cause: PipelineError? = nil
  ) {
    self.text = text
    self.utf8Offset = min(utf8Offset, text.utf8.count)
    self.message = message
    self.suggestion = suggestion
    self.cause = cause
    let before = String(decoding: text.utf8.prefix(self.utf8Offset), as: UTF8.self)
    self.line = 1 + before.count { $0.isNewline }
    self.column = 1 + before.reversed().prefix { !$0.isNewline }.count
  }

  /// The message with its hint on one line, then the two lines of ``rendering``.
  public var description: String {
    let place =
      self.line == 1 ? "column \(self.column)" : "line \(self.line), column \(self.column)"
    let hint = self.suggestion.map { "; did you mean \($0)?" } ?? ""
    return "\(place): \(self.message)\(hint)\n\(self.rendering)"
  }

  /// Two lines: the line of the text that has the fault, and a caret under the character.
  ///
  /// A long line is cut down to the surroundings of the fault. Control characters are shown as `?`,
  /// since the text may be a stranger's and the reader a terminal.
  public var rendering: String {
    let lines = self.text.split(omittingEmptySubsequences: false) { $0.isNewline }
    let shown = lines[self.line - 1].map(Self.visible)
    let caret = self.column - 1
    let start = max(0, min(caret - Self.width / 2, shown.count - Self.width))
    let end = min(shown.count, start + Self.width)
    let head = start > 0 ? "..." : ""
    let tail = end < shown.count ? "..." : ""
    let indent = String(repeating: " ", count: head.count + caret - start)
    return "\(head)\(String(shown[start ..< end]))\(tail)\n\(indent)^"
  }

  /// The most characters of a line that are shown.
  private static let width = 80

  private static func visible(_ character: Character) -> Character {
    if character == "\t" { return " " }
    let isControl = character.unicodeScalars.contains { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: true
      default: scalar.properties.isBidiControl
      }
    }
    return isControl ? "?" : character
  }
}
