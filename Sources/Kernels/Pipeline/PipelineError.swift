/// An invalid pipeline, with the path of the error.
public struct PipelineError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The catalogue doesn't have a filter of that name.
    case unknownFilter
    /// The catalogue describes the filter but cannot create it, because the program is built
    /// without a library or a file is missing.
    case unavailableFilter
    /// The caller may not use the filter, or not with this value of a parameter.
    case notPermitted
    /// The filter doesn't have a parameter of that name.
    case unknownParameter
    /// A parameter is given twice, once under another spelling.
    case duplicateParameter
    /// A parameter without a default is not given.
    case missingParameter
    /// The value's kind is not the parameter's kind.
    case wrongType
    /// The value is not finite, or outside the parameter's limits.
    case outOfLimits
    /// The pipeline has more than ``Pipeline/maxStages`` stages.
    case tooManyStages
    /// Pipelines nest deeper than ``Pipeline/maxDepth``.
    case tooDeep
    /// Two stages have the same id.
    case duplicateStageID
    /// No stage has that id.
    case unknownStage
    /// The asset doesn't exist, or its kind is not the parameter's kind.
    case unknownAsset
    /// A stage's mix or region is invalid.
    case invalidStage
    /// The text of a kernel is invalid.
    case invalidKernel
    /// A name, a text, or a list of values or parameters exceeds a limit of ``Pipeline``.
    case tooLarge
  }

  /// The kind of error.
  public let code: Code
  /// The path: `stages[1].pipeline.stages[0].filter.parameters["radius"]`.
  public let path: String
  /// The error with its figures, in one sentence.
  public let message: String
  /// The nearest existing name, for misspelt names.
  public let suggestion: String?
  /// The invalid value, for programs. `nil` for other errors. A caller's text may have any length.
  public let value: String?
  /// The limit that the value violates, for programs: a number, or a range as in `0.0 ... 1.0`.
  /// `nil` for other errors.
  public let limit: String?
  /// The position of the error in the text at ``path``. `nil` if the value isn't text with a
  /// grammar.
  public let position: TextPosition?

  /// Creates an error.
  public init(
    code: Code, path: String, message: String, suggestion: String? = nil, value: String? = nil,
    limit: String? = nil, position: TextPosition? = nil
  ) {
    self.code = code
    self.path = path
    self.message = message
    self.suggestion = suggestion
    self.value = value
    self.limit = limit
    self.position = position
  }

  /// Path, message, and the nearest name.
  public var description: String {
    let hint = self.suggestion.map { "; did you mean \($0)?" } ?? ""
    return "\(self.path): \(self.message)\(hint)"
  }
}

extension String {
  /// Returns the text cut after at most `limit` bytes, at a character boundary, with an ellipsis
  /// where it is cut.
  ///
  /// Used for text of a caller in errors, logs and lists: errors travel in headers, and clients
  /// reject headers of more than 8 KiB. The bound counts bytes, because one character may have any
  /// number of them.
  ///
  /// - Parameter limit: The maximum length of the result in bytes; at least 3.
  package func clipped(toBytes limit: Int) -> String {
    guard self.utf8.count > limit else { return self }
    // A position within a scalar is rounded down to the scalar's start.
    let end = self.utf8.index(self.utf8.startIndex, offsetBy: limit - 3)
    return String(self.unicodeScalars[..<end]) + "..."
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
  package init(offset: Int, in text: [UInt8]) {
    self.utf8Offset = min(max(offset, 0), text.count)
    let before = text[..<self.utf8Offset]
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    self.line = 1 + before.count { $0 == UInt8(ascii: "\n") }
    self.column = 1 + String(decoding: before[start...], as: UTF8.self).count
  }
}
