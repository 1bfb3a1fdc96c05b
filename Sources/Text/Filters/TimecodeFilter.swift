import SidelightKernels

/// The timecode of frames, burnt into the picture.
struct TimecodeFilter: CheckedFilter {
  static let description = FilterDescription(
    name: "timecode",
    summary: "Draws each frame's time or number on the picture.",
    category: .compositing, reach: .pixel, fidelity: .formula,
    keywords: "clock time date timestamp",
    examples: ["timecode(size: 0.07h)"],
    formula: """
      The text of the filter text, with digits of equal width. With t the capture time of day, or \
      sequence / rate: frames is HH:MM:SS:FF, FF the whole part of rate times the fraction of the \
      second; dropFrame is HH:MM:SS;FF, in which the first 2 of 30 or 4 of 60 numbers of each \
      minute are left out, except in each tenth (SMPTE 12M-1); milliseconds is HH:MM:SS.mmm; count \
      is the sequence
      """,
    parameters: [
      ParameterDescription(
        "format", .choice(Timecode.Form.allCases.map(\.rawValue)),
        default: .text(Timecode.Form.frames.rawValue), "The form of the timecode."),
      ParameterDescription(
        "source", .choice(Timecode.Source.allCases.map(\.rawValue)),
        default: .text(Timecode.Source.captureTime.rawValue),
        "The time that is shown: the capture time, or the time since sequence 0."),
      ParameterDescription(
        "rate", .number, default: .number(30), slider: 1 ... 120, limits: 1 ... 1000,
        "The frames per second."),
    ] + TextParameters.font(default: .inter, isBold: true, size: 0.045)
      + TextParameters.decoration(boxAlpha: 0.6) + TextParameters.place(default: .bottom)
      + [TextParameters.utcOffset],
    requirement: .text)

  private let timecode: Timecode
  private let appearance: TextAppearance
  private let tools: TextTools

  init(_ arguments: Arguments, tools: TextTools) {
    self.timecode = Timecode(
      form: Timecode.Form(rawValue: arguments.text("format")) ?? .frames,
      source: Timecode.Source(rawValue: arguments.text("source")) ?? .captureTime,
      rate: arguments.number("rate"),
      utcOffset: Int((arguments.number("utcOffset") * 3600).rounded()))
    self.appearance = TextAppearance(arguments)
    self.tools = tools
  }

  var description: FilterDescription { Self.description }

  var violation: ArgumentViolation? {
    guard self.timecode.form != .dropFrame || self.timecode.canDropFrames else {
      return ArgumentViolation(
        "rate", "rate is \(self.timecode.rate); the format dropFrame needs 29.97 or 59.94")
    }
    return self.appearance.violation(self.tools.renderer)
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    guard self.appearance.isVisible else { return [] }
    let request = self.appearance.request(
      in: geometry.size, maxWidth: Double(geometry.size.width), maxLines: 1, alignment: nil,
      hasTabularDigits: true)
    let operation = TextOperation(
      .timecode(self.timecode), request, opacity: self.appearance.opacity, in: geometry,
      self.tools)
    return [FilterNode(.drawing(operation))]
  }
}
