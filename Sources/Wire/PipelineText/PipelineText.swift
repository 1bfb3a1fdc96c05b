public import SidelightKernels

/// A pipeline as people write it, and where each of its parts stands in the text.
///
///     sepia(intensity: 0.8), [pixellate(scale: 12), hueAdjust(angle: 3.14)]
///
/// Stages are separated by commas. The empty text is the empty pipeline. Space and line breaks may
/// stand between any two parts.
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
/// - A name before a stage is its id, by which it is turned on and off later:
///   `look: sepia(intensity: 0.8)`.
/// - `@off` makes the stage inactive, `@mix(0.5)` shows half of its result, and
///   `@region(0, 0, 0.5w, 1h)` shows the result in a rectangle: left, top, width, height.
/// - `@linear` before the first stage has a pipeline compute in linear light: `@linear exposure`,
///   `sepia, [@linear blur, bloom]`. A nested pipeline that says nothing takes over the space of the
///   one round it; `@gamma` names the default.
/// - A length is in pixels, frame widths (`w`), frame heights (`h`) or short sides (`min`). As a
///   parameter, `12` is a number, which a filter takes as pixels where it wants a length, and
///   `12px` is a length.
/// - `#ff8000` and `#ff800080` are colours of 8 bits a channel, `color(1, 0.5, 0)` of any
///   precision; the fourth figure is alpha.
/// - A quoted text has the escapes `\"`, `\\`, `\n`, `\r`, `\t` and `\u{1F600}`. A parameter whose
///   text is `true`, `false` or `nan` has to be quoted.
///
/// Whether filters and parameters exist is not the parser's business but the catalogue's:
/// ``resolve(_:)`` points its complaints at the text.
public struct PipelineText: Sendable {
  /// The text as it was given.
  public let text: String
  /// What it says.
  public let pipeline: Pipeline

  private let locations: PipelineTextLocations

  /// The longest text: 16 KiB.
  public static let maxLength = 16 << 10

  /// Parses a text.
  ///
  /// - Throws: ``PipelineTextError`` for a text that is not a pipeline, that is longer than
  ///   ``maxLength``, or that has more stages or deeper brackets than ``Pipeline`` allows.
  public init(_ text: String) throws(PipelineTextError) {
    var parser = PipelineTextParser(text)
    self.pipeline = try parser.parse()
    self.locations = parser.locations
    self.text = text
  }

  /// Checks the pipeline against a catalogue.
  ///
  /// - Parameter resolve: The catalogue's own check, for example `catalogue.resolve`.
  /// - Returns: What `resolve` returns.
  /// - Throws: ``PipelineTextError``: the catalogue's complaint, pointed at the character at fault.
  public func resolve<Resolved>(
    _ resolve: (Pipeline) throws(PipelineError) -> Resolved
  ) throws(PipelineTextError) -> Resolved {
    do {
      return try resolve(self.pipeline)
    } catch {
      throw self.locate(error)
    }
  }

  /// Points a complaint about ``pipeline`` at the character at fault: the name of an unknown filter
  /// or parameter, the value that is out of its limits.
  public func locate(_ error: PipelineError) -> PipelineTextError {
    PipelineTextError(
      text: self.text, utf8Offset: self.locations.offset(of: error), message: error.message,
      suggestion: error.suggestion, cause: error)
  }
}

extension Pipeline {
  /// Parses the text form; see ``PipelineText`` for the grammar.
  ///
  /// - Throws: ``PipelineTextError`` that points at the character at fault.
  public init(text: String) throws(PipelineTextError) {
    self = try PipelineText(text).pipeline
  }

  /// The pipeline in the text form, on one line; ``init(text:)`` gives the same pipeline back.
  ///
  /// Parameters come in the order of their names, so equal pipelines have equal texts. Infinite
  /// numbers are written `1e999`. A pipeline beyond the limits of ``PipelineText`` is written as
  /// well, for logs, but cannot be read back; what is nested too deeply shows as `[...]`.
  public var text: String {
    var printer = PipelineTextPrinter()
    printer.print(self, depth: 1)
    return printer.text
  }

  /// ``text``, cut off with an ellipsis if it is longer than a number of bytes: for lists and logs.
  ///
  /// - Parameter limit: The most bytes of the result; at least 3.
  package func text(clippedToBytes limit: Int) -> String {
    var printer = PipelineTextPrinter(limit: limit)
    printer.print(self, depth: 1)
    return printer.text.clipped(toBytes: limit)
  }
}

extension ParameterValue {
  /// The value as a pipeline's text has it: `0.8`, `0.5w`, `(0.5w, 0.5h)`, `#ff8000`.
  public var textForm: String { PipelineTextPrinter.value(self) }
}

/// Where the parts of a pipeline stand in its text, by the paths that ``PipelineError`` uses.
struct PipelineTextLocations: Sendable {
  /// Where a part stands.
  private struct Location: Sendable {
    /// Bytes from the start of the text to the part, or to its name.
    var start: Int
    /// Bytes to its value, for a part that has a name and a value.
    var value: Int?
  }

  private var locations: [String: Location] = [:]

  /// Notes where a part starts.
  ///
  /// - Parameters:
  ///   - path: For example `stages[1].filter.parameters["radius"]`.
  ///   - start: The offset of the part, or of its name.
  ///   - value: The offset of its value, if it has one.
  mutating func record(_ path: String, start: Int, value: Int? = nil) {
    self.locations[path] = Location(start: start, value: value)
  }

  /// The offset that a complaint is about: that of the part at its path, or else of the nearest
  /// part around it that stands in the text.
  func offset(of error: PipelineError) -> Int {
    let around = self.locations.filter { Self.isPath($0.key, at: error.path) }
    guard let place = around.max(by: { $0.key.utf8.count < $1.key.utf8.count })?.value else {
      return 0
    }
    switch error.code {
    case .unknownParameter, .duplicateParameter: return place.start
    default: return place.value ?? place.start
    }
  }

  /// Whether one path is another, or leads to it.
  private static func isPath(_ outer: String, at path: String) -> Bool {
    guard path.hasPrefix(outer) else { return false }
    let rest = path.dropFirst(outer.count)
    return rest.isEmpty || rest.hasPrefix(".") || rest.hasPrefix("[")
  }
}
