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
