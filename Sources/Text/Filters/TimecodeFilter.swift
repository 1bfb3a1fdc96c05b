package import SidelightKernels

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

/// A timecode as text: the time of day of a frame, or the time since the first frame of a stream.
package struct Timecode: Sendable, Hashable {
  /// The form of the text.
  package enum Form: String, Sendable, Hashable, CaseIterable {
    /// `HH:MM:SS:FF`: the frame within the second.
    case frames
    /// `HH:MM:SS;FF`, which leaves out numbers to keep the timecode of 29.97 or 59.94 frames per
    /// second in step with the clock (SMPTE 12M-1).
    case dropFrame
    /// `HH:MM:SS.mmm`.
    case milliseconds
    /// The frame's number.
    case count
  }

  /// The time that is shown.
  package enum Source: String, Sendable, Hashable, CaseIterable {
    /// The capture time.
    case captureTime
    /// The frame's sequence, at the frame rate.
    case sequence
  }

  package let form: Form
  package let source: Source
  /// Frames per second.
  package let rate: Double
  /// The clock's offset from UTC in seconds; for capture times.
  package let utcOffset: Int

  package init(form: Form, source: Source, rate: Double, utcOffset: Int = 0) {
    self.form = form
    self.source = source
    self.rate = rate
    self.utcOffset = utcOffset
  }

  /// The frames that a second of the timecode counts.
  private var base: Int { max(1, Int(self.rate.rounded(.up))) }

  /// Whether numbers can be left out at the frame rate: 29.97 or 59.94 frames per second.
  package var canDropFrames: Bool {
    [30, 60].contains(self.base) && abs(self.rate - Double(self.base) * 1000 / 1001) < 0.005
  }

  package func text(of details: FrameDetails) -> String {
    if self.form == .count { return String(details.sequence) }
    switch self.source {
    case .captureTime:
      let time = CivilTime(nanoseconds: details.captureNanoseconds, utcOffset: self.utcOffset)
      switch self.form {
      case .dropFrame:
        let seconds = 3600 * time.hour + 60 * time.minute + time.second
        let elapsed = Double(seconds) + Double(time.nanosecond) / 1e9
        // 29.97 is short for 30000/1001.
        let rate = Double(self.base) * 1000 / 1001
        return self.text(frame: Int((elapsed * rate + 1e-6).rounded(.down)))
      case .frames:
        let frame = Int((Double(time.nanosecond) / 1e9 * self.rate + 1e-6).rounded(.down))
        return Self.text(
          time.hour, time.minute, time.second, ":", min(frame, self.base - 1), digits: 2)
      case .milliseconds, .count:
        return Self.text(
          time.hour, time.minute, time.second, ".", time.nanosecond / 1_000_000, digits: 3)
      }
    case .sequence:
      let frame = Int(clamping: min(details.sequence, 1 << 48))
      guard self.form == .milliseconds else { return self.text(frame: frame) }
      let milliseconds = Int((Double(frame) / self.rate * 1000 + 1e-6).rounded(.down))
      let seconds = milliseconds / 1000
      return Self.text(
        seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, ".", milliseconds % 1000, digits: 3)
    }
  }

  /// Returns the timecode of the frame with a number, counted from 0:00.
  private func text(frame: Int) -> String {
    let base = self.base
    var number = frame
    if self.form == .dropFrame {
      // Leaves out the first numbers of every minute, except in every tenth: 2 of 30, 4 of 60.
      let dropped = base / 15
      let perMinute = 60 * base - dropped
      let perTenMinutes = 600 * base - 9 * dropped
      let (tens, rest) = number.quotientAndRemainder(dividingBy: perTenMinutes)
      number += 9 * dropped * tens
      if rest >= 60 * base { number += dropped * (1 + (rest - 60 * base) / perMinute) }
    }
    let seconds = number / base
    return Self.text(
      seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, self.form == .dropFrame ? ";" : ":",
      number % base, digits: base > 100 ? 3 : 2)
  }

  private static func text(
    _ hour: Int, _ minute: Int, _ second: Int, _ separator: String, _ rest: Int, digits: Int
  ) -> String {
    [hour, minute, second].map { TimeFormat.digits($0, 2) }.joined(separator: ":")
      + separator + TimeFormat.digits(rest, digits)
  }
}
