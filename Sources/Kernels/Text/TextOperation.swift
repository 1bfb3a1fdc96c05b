/// The source of a text: the values of frames, as text.
enum TextSource: Sendable, Hashable {
  case template(TextTemplate, utcOffset: Int)
  case timecode(Timecode)

  /// The frequency with which the text changes.
  var change: TextTemplate.Change {
    switch self {
    case .template(let template, _): template.change
    case .timecode: .eachFrame
    }
  }

  /// Returns the text of a frame.
  func text(of details: FrameDetails) -> String {
    switch self {
    case .template(let template, let utcOffset): template.text(of: details, utcOffset: utcOffset)
    case .timecode(let timecode): timecode.text(of: details)
    }
  }
}

/// A text that is drawn on frames of one geometry.
///
/// A text that never changes is drawn when the plan is compiled. Any other one is drawn for the
/// first frame that shows it, within that frame's time, so that each frame has its own text.
struct TextOperation: DrawingOperation {
  let source: TextSource
  /// The text's properties, without its characters.
  let request: TextRequest
  let opacity: Double
  let geometry: FrameGeometry
  let tools: TextTools
  /// The text that never changes, or the reason why it cannot be drawn; `nil` if it changes.
  private let fixed: Result<PlateSamples?, TextError>?

  init(
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

  var summary: String {
    switch self.source.change {
    case .never: "a text that is drawn once, on its rectangle"
    case .sometimes: "a text that is drawn when it changes, on its rectangle"
    case .eachFrame: "a text that is drawn for each frame, on its rectangle"
    }
  }

  /// The memory that a plan holds for the text, in bytes.
  var byteCount: Int {
    guard case .success(let samples?) = self.fixed else { return 0 }
    return samples.byteCount
  }

  /// Whether the text covers no pixel of any frame.
  var isEmpty: Bool {
    guard case .success(nil) = self.fixed else { return false }
    return true
  }

  func makePass(_ setting: PassSetting) -> any Pass {
    PlatePass(setting: setting, operation: self)
  }

  /// Returns the text of a frame; `nil` if it covers no pixel.
  func samples(of details: FrameDetails) throws(TextError) -> PlateSamples? {
    if let fixed = self.fixed { return try fixed.get() }
    return try self.tools.samples(
      self.complete(details), opacity: self.opacity, for: self.geometry,
      isKept: self.source.change < .eachFrame)
  }

  func reference(
    _ picture: ReferencePicture, _ time: FrameTime, _ details: FrameDetails
  ) -> ReferencePicture {
    guard let plate = try? self.tools.renderer.render(self.complete(details)) else {
      return picture
    }
    var result = picture
    result.mapPixels { pixel, x, y in
      guard (plate.x ..< plate.x + plate.size.width).contains(x),
        (plate.y ..< plate.y + plate.size.height).contains(y)
      else { return pixel }
      let index = 4 * ((y - plate.y) * plate.size.width + x - plate.x)
      let text =
        SIMD4<Double>(
          Double(plate.pixels[index]), Double(plate.pixels[index + 1]),
          Double(plate.pixels[index + 2]), Double(plate.pixels[index + 3])) / 255 * self.opacity
      let under = pixel * (pixel.w * (1 - text.w))
      let alpha = text.w + pixel.w * (1 - text.w)
      guard alpha > 0 else { return .zero }
      return SIMD4(
        (text.x + under.x) / alpha, (text.y + under.y) / alpha, (text.z + under.z) / alpha, alpha)
    }
    return result
  }

  private func complete(_ details: FrameDetails) -> TextRequest {
    var request = self.request
    request.text = self.source.text(of: details)
    return request
  }
}
