package import SidelightKernels

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

  /// Returns the text of a frame.
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
