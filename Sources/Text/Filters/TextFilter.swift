import SidelightKernels

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
