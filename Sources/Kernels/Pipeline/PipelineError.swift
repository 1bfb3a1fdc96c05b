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

/// Matching of names of filters and parameters: this library's names, Core Image's names, and near
/// misses.
package enum Spelling {
  /// The filters that have another name here than in Core Image, with the same parameters.
  private static let renamedFilters = ["CIMedianFilter": "median"]

  /// `CISepiaTone` becomes `sepiaTone`; other names do not change.
  package static func canonicalFilter(_ name: String) -> String {
    Self.renamedFilters[name] ?? Self.stripping("CI", from: name)
  }

  /// `inputIntensity` becomes `intensity`; other names do not change.
  package static func canonicalParameter(_ name: String) -> String {
    Self.stripping("input", from: name)
  }

  /// Returns the candidate with the fewest edits to the given name, if they are at most a third of
  /// the name's length (but two are always allowed); otherwise the shortest candidate that begins
  /// with the name, such as `sepiaTone` for `sepia`. Of several it returns the first in
  /// alphabetical order.
  package static func nearest(to name: String, among candidates: [String]) -> String? {
    // The time is quadratic in the name's length.
    guard name.utf8.count <= 64 else { return nil }
    let folded = Array(name.lowercased().utf8)
    let candidates = candidates.sorted()
    let misspelt =
      candidates
      .map { (name: $0, distance: Self.distance(folded, Array($0.lowercased().utf8))) }
      .filter { $0.distance <= max(2, folded.count / 3) }
      .min { $0.distance < $1.distance }?
      .name
    if let misspelt { return misspelt }
    guard folded.count >= 3 else { return nil }
    return
      candidates
      .filter { $0.lowercased().hasPrefix(name.lowercased()) }
      .min { $0.count < $1.count }
  }

  private static func stripping(_ prefix: String, from name: String) -> String {
    guard name.hasPrefix(prefix) else { return name }
    let rest = name.dropFirst(prefix.count)
    guard let first = rest.first, first.isUppercase else { return name }
    return first.lowercased() + rest.dropFirst()
  }

  /// The Levenshtein distance: insertions, deletions and replacements.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var previous = Array(0 ... right.count)
    for (row, byte) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        current.append(
          min(
            previous[column] + (byte == other ? 0 : 1), previous[column + 1] + 1,
            current[column] + 1))
      }
      previous = current
    }
    return previous[right.count]
  }
}

extension UInt8 {
  /// Whether the byte is an ASCII letter.
  package var isLetter: Bool {
    (UInt8(ascii: "a") ... UInt8(ascii: "z")).contains(self | 0x20)
  }

  /// Whether the byte is an ASCII digit.
  package var isDigit: Bool { (UInt8(ascii: "0") ... UInt8(ascii: "9")).contains(self) }
}
