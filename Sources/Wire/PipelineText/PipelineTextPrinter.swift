import SidelightKernels

/// Formats pipelines in text form.
struct PipelineTextPrinter {
  /// The text so far.
  private(set) var text = ""
  /// The length in bytes at which formatting ends.
  private let limit: Int

  /// - Parameter limit: The length in bytes after which new stages are omitted, since the text is
  ///   truncated there.
  init(limit: Int = .max) {
    self.limit = limit
  }

  /// Appends a pipeline.
  ///
  /// - Parameter depth: The number of enclosing pipelines, plus 1.
  mutating func print(_ pipeline: Pipeline, depth: Int) {
    if let space = pipeline.workingSpace {
      self.text += "@\(space.text)" + (pipeline.stages.isEmpty ? "" : " ")
    }
    for (index, stage) in pipeline.stages.enumerated() {
      guard self.text.utf8.count <= self.limit else { return }
      if index > 0 { self.text += ", " }
      self.print(stage, depth: depth)
    }
  }

  private mutating func print(_ stage: Stage, depth: Int) {
    if let id = stage.id { self.text += "\(Self.name(id)): " }
    switch stage.content {
    case .filter(let call):
      self.text += Self.name(call.name)
      if !call.parameters.isEmpty {
        let parameters = call.parameters.sorted { $0.key < $1.key }
        self.text +=
          "(\(Self.list(parameters) { "\(Self.name($0.key)): \(Self.value($0.value))" }))"
      }
    case .pipeline where depth >= Pipeline.maxDepth:
      self.text += "[...]"
    case .pipeline(let nested):
      self.text += "["
      self.print(nested, depth: depth + 1)
      self.text += "]"
    }
    if stage.mix != 1 { self.text += " @mix(\(Self.number(stage.mix)))" }
    if let region = stage.region {
      let lengths = [region.origin.x, region.origin.y, region.width, region.height]
      self.text += " @region(\(Self.list(lengths) { Self.length($0, pixels: "") }))"
    }
    if !stage.isActive { self.text += " @off" }
  }

  static func value(_ value: ParameterValue) -> String {
    switch value {
    case .number(let number): self.number(number)
    case .length(let length): self.length(length, pixels: "px")
    case .point(let point): "(\(self.list([point.x, point.y]) { self.length($0, pixels: "") }))"
    case .color(let color): self.color(color)
    case .vector(let numbers): "[\(self.list(numbers, self.number))]"
    case .flag(let flag): flag ? "true" : "false"
    case .text(let text): ["true", "false", "nan"].contains(text) ? "\"\(text)\"" : self.name(text)
    }
  }

  /// Returns the shortest digits that parse to the same number, without a fraction of zero.
  private static func number(_ number: Double) -> String {
    if number.isNaN { return "nan" }
    if number.isInfinite { return number < 0 ? "-1e999" : "1e999" }
    let digits = number.description
    return digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits
  }

  private static func length(_ length: Length, pixels: String) -> String {
    let unit =
      switch length.unit {
      case .pixels: pixels
      case .width: "w"
      case .height: "h"
      case .shortSide: "min"
      }
    return self.number(length.value) + unit
  }

  private static func color(_ color: RGBAColor) -> String {
    let channels = [color.red, color.green, color.blue, color.alpha]
    let bytes = channels.map { (max(0, min(255, $0 * 255))).rounded() }
    let shown = color.alpha == 1 ? 3 : 4
    guard zip(bytes, channels).allSatisfy({ $0 / 255 == $1 }) else {
      return "color(\(self.list(channels.prefix(shown), self.number)))"
    }
    return bytes.prefix(shown).reduce(into: "#") { text, byte in
      let digits = String(Int(byte), radix: 16)
      text += digits.utf8.count == 1 ? "0\(digits)" : digits
    }
  }

  /// Returns a name, quoted unless it is a word.
  private static func name(_ name: String) -> String {
    if PipelineTextCursor.isWord(name) { return name }
    var quoted = "\""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case _ where scalar.properties.generalCategory == .control:
        quoted += "\\u{\(String(scalar.value, radix: 16))}"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  private static func list<Elements: Sequence>(
    _ elements: Elements, _ text: (Elements.Element) -> String
  ) -> String {
    elements.map(text).joined(separator: ", ")
  }
}

extension WorkingSpace {
  /// The name in the text form.
  package var text: String {
    switch self {
    case .sRGBGamma: "gamma"
    case .sRGBLinear: "linear"
    }
  }

  /// Creates the working space with a name. `nil` if the name is unknown.
  package init?(text: String) {
    guard let space = Self.allCases.first(where: { $0.text == text }) else { return nil }
    self = space
  }
}
