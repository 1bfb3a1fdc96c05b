public import SidelightKernels

/// A pipeline in text form, with the locations of its parts in the text.
///
///     sepia(intensity: 0.8), [pixellate(scale: 12), hueAdjust(angle: 3.14)]
///
/// Commas separate stages. The empty text is the empty pipeline. Spaces and line breaks are allowed
/// between any two parts.
///
///     pipeline   = [ space ] [ stage *( "," stage ) ]
///     space      = "@linear" / "@gamma"
///     stage      = [ name ":" ] ( filter / "[" pipeline "]" ) *attribute
///     filter     = name [ "(" [ parameter *( "," parameter ) ] ")" ]
///     parameter  = name ":" value
///     attribute  = "@off" / "@mix(" number ")" / "@region(" length 3( "," length ) ")"
///     value      = number / length / point / color / vector / "true" / "false" / text
///     length     = number [ "px" / "w" / "h" / "min" ]
///     point      = "(" length "," length ")"
///     color      = "#" 6HEXDIG [ 2HEXDIG ] / "color(" number 2*3( "," number ) ")"
///     vector     = "[" [ number *( "," number ) ] "]"
///     text, name = word / quoted
///     word       = ( ALPHA / "_" ) *( ALPHA / DIGIT / "_" / "-" / "." )
///
/// - A name before a stage is its ID, by which it can be activated and deactivated later:
///   `look: sepia(intensity: 0.8)`.
/// - `@off` deactivates the stage, `@mix(0.5)` mixes its result and its input equally, and
///   `@region(0, 0, 0.5w, 1h)` limits it to a rectangle: left, top, width, height.
/// - `@linear` before the first stage selects linear light as the working space of a pipeline:
///   `@linear exposure`, `sepia, [@linear blur, bloom]`. A nested pipeline without a working space
///   inherits the enclosing pipeline's; `@gamma` names the default.
/// - A length is in pixels, frame widths (`w`), frame heights (`h`) or short sides (`min`). As a
///   parameter, `12` is a number, which a filter that expects a length reads as pixels, and `12px`
///   is a length.
/// - `#ff8000` and `#ff800080` are colours with 8 bits per channel, `color(1, 0.5, 0)` has any
///   precision; the fourth value is alpha.
/// - A quoted text has the escapes `\"`, `\\`, `\n`, `\r`, `\t` and `\u{1F600}`. The texts `true`,
///   `false` and `nan` must be quoted as parameters.
///
/// The parser does not check whether filters and parameters exist. ``resolve(_:)`` checks them
/// against a catalogue and locates its errors in the text.
public struct PipelineText: Sendable {
  /// The text.
  public let text: String
  /// The pipeline.
  public let pipeline: Pipeline

  private let locations: PipelineTextLocations

  /// The maximum length of the text in bytes: 16 KiB.
  public static let maxLength = 16 << 10

  /// Parses text.
  ///
  /// - Throws: ``PipelineTextError`` if the text is not a pipeline, is longer than ``maxLength``,
  ///   or has more stages or deeper brackets than ``Pipeline`` allows.
  public init(_ text: String) throws(PipelineTextError) {
    var parser = PipelineTextParser(text)
    self.pipeline = try parser.parse()
    self.locations = parser.locations
    self.text = text
  }

  /// Checks the pipeline against a catalogue.
  ///
  /// - Parameter resolve: The check of the catalogue, such as `catalogue.resolve`.
  /// - Returns: The result of `resolve`.
  /// - Throws: ``PipelineTextError`` with the error of the catalogue, located in the text.
  public func resolve<Resolved>(
    _ resolve: (Pipeline) throws(PipelineError) -> Resolved
  ) throws(PipelineTextError) -> Resolved {
    do {
      return try resolve(self.pipeline)
    } catch {
      throw self.locate(error)
    }
  }

  /// Locates an error of ``pipeline`` in the text: at the name of an unknown filter or parameter,
  /// at a value that is out of range, or at the invalid character of a kernel.
  public func locate(_ error: PipelineError) -> PipelineTextError {
    var offset = self.locations.offset(of: error)
    if let position = error.position {
      offset = PipelineTextCursor.offset(
        ofByte: position.utf8Offset, ofValueAt: offset, in: Array(self.text.utf8))
    }
    return PipelineTextError(
      text: self.text, utf8Offset: offset, message: error.message, suggestion: error.suggestion,
      cause: error)
  }
}

extension Pipeline {
  /// Parses the text form; see ``PipelineText`` for the grammar.
  ///
  /// - Throws: ``PipelineTextError`` with the position of the invalid character.
  public init(text: String) throws(PipelineTextError) {
    self = try PipelineText(text).pipeline
  }

  /// The pipeline in text form, on one line. ``init(text:)`` parses it to the same pipeline.
  ///
  /// Parameters are ordered by name, so equal pipelines have equal texts. Infinite numbers are
  /// written as `1e999`. A pipeline beyond the limits of ``PipelineText`` is formatted too, for
  /// logs, but cannot be parsed; pipelines that are nested too deeply are written as `[...]`.
  public var text: String {
    var printer = PipelineTextPrinter()
    printer.print(self, depth: 1)
    return printer.text
  }

  /// Returns ``text``, truncated with an ellipsis to a number of bytes, for lists and logs.
  ///
  /// - Parameter limit: The maximum length of the result in bytes; at least 3.
  package func text(clippedToBytes limit: Int) -> String {
    var printer = PipelineTextPrinter(limit: limit)
    printer.print(self, depth: 1)
    return printer.text.clipped(toBytes: limit)
  }
}

extension ParameterValue {
  /// The value in the text form of pipelines: `0.8`, `0.5w`, `(0.5w, 0.5h)`, `#ff8000`.
  public var textForm: String { PipelineTextPrinter.value(self) }
}

/// The locations of the parts of a pipeline in its text, by the paths of ``PipelineError``.
struct PipelineTextLocations: Sendable {
  /// The location of a part.
  private struct Location: Sendable {
    /// The offset of the part or of its name, in bytes.
    var start: Int
    /// The offset of its value in bytes, if any.
    var value: Int?
  }

  private var locations: [String: Location] = [:]

  /// Records the location of a part.
  ///
  /// - Parameters:
  ///   - path: The path, such as `stages[1].filter.parameters["radius"]`.
  ///   - start: The offset of the part, or of its name.
  ///   - value: The offset of its value, if any.
  mutating func record(_ path: String, start: Int, value: Int? = nil) {
    self.locations[path] = Location(start: start, value: value)
  }

  /// Returns the offset of an error: the offset of the part at its path, or of the nearest
  /// enclosing part that occurs in the text.
  func offset(of error: PipelineError) -> Int {
    let around = self.locations.filter { Self.isPath($0.key, at: error.path) }
    guard let location = around.max(by: { $0.key.utf8.count < $1.key.utf8.count })?.value else {
      return 0
    }
    switch error.code {
    case .unknownParameter, .duplicateParameter: return location.start
    default: return location.value ?? location.start
    }
  }

  /// Returns whether a path is equal to another or encloses it.
  private static func isPath(_ outer: String, at path: String) -> Bool {
    guard path.hasPrefix(outer) else { return false }
    let rest = path.dropFirst(outer.count)
    return rest.isEmpty || rest.hasPrefix(".") || rest.hasPrefix("[")
  }
}

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
