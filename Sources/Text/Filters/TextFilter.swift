package import SidelightKernels

/// A text on the picture: a name plate, a title, a clock or a watermark.
struct TextFilter: CheckedFilter {
  static let description = FilterDescription(
    name: "text",
    summary: "Draws a text on the picture: a name plate, a title, a clock or a watermark.",
    category: .compositing, reach: .pixel, fidelity: .formula,
    keywords: "title caption subtitle label name watermark write",
    examples: [
      """
      text(text: "Ada Lovelace\\nAnalytical Engines", bold: true, size: 0.07h, boxColor: \
      #0d1220c0)
      """,
      """
      text(text: "Title", bold: true, size: 0.2h, color: #ffd933, outlineWidth: 0.08, \
      position: center)
      """,
    ],
    formula: """
      o p + s (1 - oa p), colour multiplied by alpha (Porter and Duff 1984), o the drawn text, p \
      opacity, s the picture; in gamma-encoded colour, in YUV formats plane by plane. o is, from \
      back to front, the box, the shadow, the outline and the letters, each over the ones before. \
      Letters are shaped by HarfBuzz in runs of one script, ordered by the Unicode bidirectional \
      algorithm, and covered by area without hinting. The shadow is the coverage of letters and \
      outline, blurred by three boxes. Lines break between words, or between letters where a word \
      is wider than width. The block of lines with its box is at position, margin from the edges
      """,
    parameters: [
      ParameterDescription(
        "text", .text, default: nil,
        "The text. {capture_time:%H:%M:%S}, {sequence}, {label}, {participant} and {tag:KEY} are "
          + "replaced for each frame; {{ and }} are braces.")
    ] + TextParameters.font(default: .inter, isBold: false, size: 0.05)
      + TextParameters.decoration(boxAlpha: 0) + [
        ParameterDescription(
          "boxSpan", .choice(["text", "width"]), default: .text("text"),
          "Whether the box is as wide as the text, or as width."),
        ParameterDescription(
          "width", .length, default: .length(Length(0.9, .width)), slider: 0 ... 4096,
          limits: 0 ... 16384, unit: .pixels,
          "The greatest width of text and box; longer lines wrap."),
        ParameterDescription(
          "lines", .number, default: .number(8), slider: 1 ... 16, limits: 1 ... 64,
          "The most lines; a longer text ends with an ellipsis."),
        ParameterDescription(
          "lineSpacing", .number, default: .number(1), slider: 0.8 ... 2, limits: 0.5 ... 4,
          "The distance of lines as a factor of the font's own."),
        ParameterDescription(
          "align", .choice(["auto"] + TextAlignment.allCases.map(\.rawValue)),
          default: .text("auto"),
          "The side to which lines are aligned; auto is the side of the position, and at the left "
            + "the side where a paragraph begins."),
      ] + TextParameters.place(default: .bottomLeft) + [TextParameters.utcOffset],
    requirement: .text)

  private let template: Result<TextTemplate, TextTemplate.Invalid>
  private let appearance: TextAppearance
  private let isBoxWide: Bool
  private let width: Length
  private let lines: Int
  private let lineSpacing: Double
  private let alignment: TextAlignment?
  private let utcOffset: Int
  private let tools: TextTools

  init(_ arguments: Arguments, tools: TextTools) {
    self.template = Result { () throws(TextTemplate.Invalid) in
      try TextTemplate(arguments.text("text"))
    }
    self.appearance = TextAppearance(arguments)
    self.isBoxWide = arguments.text("boxSpan") == "width"
    self.width = arguments.length("width")
    self.lines = Int(arguments.number("lines").rounded())
    self.lineSpacing = arguments.number("lineSpacing")
    self.alignment = TextAlignment(rawValue: arguments.text("align"))
    self.utcOffset = Int((arguments.number("utcOffset") * 3600).rounded())
    self.tools = tools
  }

  var description: FilterDescription { Self.description }

  var violation: ArgumentViolation? {
    if case .failure(let error) = self.template {
      return ArgumentViolation("text", "text \(error.reason)", suggestion: error.suggestion)
    }
    return self.appearance.violation(self.tools.renderer)
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    guard self.appearance.isVisible, case .success(let template) = self.template else {
      return []
    }
    var request = self.appearance.request(
      in: geometry.size, maxWidth: self.width.pixels(in: geometry.size), maxLines: self.lines,
      lineSpacing: self.lineSpacing, alignment: self.alignment, isBoxWide: self.isBoxWide,
      hasTabularDigits: template.hasChangingNumbers)
    request.style.alignment = self.alignment ?? request.placement.alignment
    let operation = TextOperation(
      .template(template, utcOffset: self.utcOffset), request, opacity: self.appearance.opacity,
      in: geometry, self.tools)
    return operation.isEmpty
      ? [] : [FilterNode(.drawing(operation), byteCost: operation.byteCount)]
  }
}

/// The source of a text: the values of frames, as text.
package enum TextSource: Sendable, Hashable {
  case template(TextTemplate, utcOffset: Int)
  case timecode(Timecode)

  /// The frequency with which the text changes.
  package var change: TextTemplate.Change {
    switch self {
    case .template(let template, _): template.change
    case .timecode: .eachFrame
    }
  }

  package func text(of details: FrameDetails) -> String {
    switch self {
    case .template(let template, let utcOffset): template.text(of: details, utcOffset: utcOffset)
    case .timecode(let timecode): timecode.text(of: details)
    }
  }
}

/// A text that is drawn on frames of one geometry.
///
/// A text that never changes is drawn when the plan is compiled. Any other text is drawn for the
/// first frame that shows it, within that frame's time, which gives every frame its own text.
package struct TextOperation: DrawingOperation {
  package let source: TextSource
  /// The text's properties, without its characters.
  package let request: TextRequest
  package let opacity: Double
  package let geometry: FrameGeometry
  package let tools: TextTools
  /// The text that never changes, or the reason why it cannot be drawn; `nil` if it changes.
  private let fixed: Result<CaptionSamples?, TextError>?

  package init(
    _ source: TextSource, _ request: TextRequest, opacity: Double, in geometry: FrameGeometry,
    _ tools: TextTools
  ) {
    self.source = source
    self.request = request
    self.opacity = opacity
    self.geometry = geometry
    self.tools = tools
    guard source.change == .never else {
      self.fixed = nil
      return
    }
    var complete = request
    complete.text = source.text(of: FrameDetails())
    self.fixed = Result { () throws(TextError) in
      try tools.samples(complete, opacity: opacity, for: geometry, isKept: true)
    }
  }

  package var summary: String {
    switch self.source.change {
    case .never: "a text that is drawn once, on its rectangle"
    case .sometimes: "a text that is drawn when it changes, on its rectangle"
    case .eachFrame: "a text that is drawn for each frame, on its rectangle"
    }
  }

  /// The memory that a plan holds for the text, in bytes.
  package var byteCount: Int {
    guard case .success(let samples?) = self.fixed else { return 0 }
    return samples.byteCount
  }

  /// Whether the text is outside every frame.
  package var isEmpty: Bool {
    guard case .success(nil) = self.fixed else { return false }
    return true
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    CaptionPass(setting: setting, operation: self)
  }

  /// Returns the text of a frame; `nil` if it doesn't cover pixels.
  package func samples(of details: FrameDetails) throws(TextError) -> CaptionSamples? {
    if let fixed = self.fixed { return try fixed.get() }
    return try self.tools.samples(
      self.complete(details), opacity: self.opacity, for: self.geometry,
      isKept: self.source.change < .eachFrame)
  }

  package func complete(_ details: FrameDetails) -> TextRequest {
    var request = self.request
    request.text = self.source.text(of: details)
    return request
  }
}
