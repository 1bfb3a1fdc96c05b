public import SidelightKernels

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
  /// The limit that the value violates, for programs; `nil` for other errors.
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
