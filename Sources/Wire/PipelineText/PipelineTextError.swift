public import SidelightKernels

/// An error in the text of a pipeline, with its position.
public struct PipelineTextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The whole text.
  public let text: String
  /// The position in bytes of UTF-8, from 0 to `text.utf8.count`.
  public let utf8Offset: Int
  /// The line, from 1.
  public let line: Int
  /// The character in the line, from 1.
  public let column: Int
  /// The error in one sentence, with the expected and the found text.
  public let message: String
  /// The nearest existing name, if a name is unknown.
  public let suggestion: String?
  /// The error of the catalogue, if the catalogue found it.
  public let cause: PipelineError?
  /// The invalid value, for programs. `nil` if the message does not state one.
  public let value: String?
  /// The violated limit, for programs, if any.
  public let limit: String?

  /// Creates an error at an offset of a text. An offset beyond the text counts as its end.
  init(
    text: String, utf8Offset: Int, message: String, suggestion: String? = nil,
    cause: PipelineError? = nil, value: String? = nil, limit: String? = nil
  ) {
    self.text = text
    self.utf8Offset = min(utf8Offset, text.utf8.count)
    self.message = message
    self.suggestion = suggestion
    self.cause = cause
    self.value = value ?? cause?.value
    self.limit = limit ?? cause?.limit
    let before = String(decoding: text.utf8.prefix(self.utf8Offset), as: UTF8.self)
    self.line = 1 + before.count { $0.isNewline }
    self.column = 1 + before.reversed().prefix { !$0.isNewline }.count
  }

  /// The message with the suggestion on one line, and the two lines of ``rendering``.
  public var description: String {
    let location =
      self.line == 1 ? "column \(self.column)" : "line \(self.line), column \(self.column)"
    let hint = self.suggestion.map { "; did you mean \($0)?" } ?? ""
    return "\(location): \(self.message)\(hint)\n\(self.rendering)"
  }

  /// Two lines: the line of the text with the error, and a caret below the character.
  ///
  /// A long line is reduced to the surroundings of the error. Control characters are shown as `?`,
  /// since the text may be hostile and the output a terminal.
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

  /// The maximum number of characters of a line to show.
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
