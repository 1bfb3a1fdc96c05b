import SidelightKernels
import SidelightWire

/// The description of a filter for a terminal.
struct FilterPage {
  let filter: FilterDescription
  /// The reason why the filter is not available; `nil` if it is.
  let unavailability: String?

  /// The page, without a final line break.
  var text: String {
    var lines = [self.filter.name, "", "  \(self.filter.summary)", ""]
    lines += Self.wrapped("  ", self.filter.textForm)
    lines.append("")
    for (name, value) in [
      ("Fidelity", self.filter.fidelity.summary), ("Reads", self.filter.inputRegion),
      ("Category", self.filter.category.rawValue), ("Formula", self.filter.formula),
    ] {
      lines += Self.wrapped("  " + name + String(repeating: " ", count: 10 - name.count), value)
    }
    if let reason = self.unavailability {
      lines += Self.wrapped("  ", "Not available: \(reason).")
    }
    lines += ["", self.filter.parameters.isEmpty ? "  No parameters." : "  Parameters"]
    for parameter in self.filter.parameters {
      lines += Self.wrapped("    ", "\(parameter.name): \(parameter.summary)")
      lines += Self.wrapped("      ", Self.details(of: parameter))
    }
    return lines.joined(separator: "\n")
  }

  private static func details(of parameter: ParameterDescription) -> String {
    [
      parameter.kindText, parameter.defaultText.map { "default \($0)" } ?? "required",
      parameter.sliderText.map { "slider \($0)" }, parameter.limitsText.map { "limits \($0)" },
    ].compactMap(\.self).joined(separator: "; ")
  }

  /// Wraps a text at 80 characters. The first line begins with the head, the others with an indent
  /// of its length.
  private static func wrapped(_ head: String, _ text: String) -> [String] {
    let indent = String(repeating: " ", count: head.count)
    var lines: [String] = []
    var line = head
    for word in text.split(whereSeparator: \.isWhitespace) {
      if line.count > head.count, line.count + word.count >= 80 {
        lines.append(line)
        line = indent
      }
      line += (line.count > head.count ? " " : "") + word
    }
    return lines + [line]
  }
}

extension FilterDescription {
  /// The filter in text form, with the defaults of all parameters: `vignette(intensity: 1, radius:
  /// 1)`. Required parameters have an example value.
  var textForm: String {
    let parameters = self.parameters.compactMap { parameter in
      parameter.exampleValue.map { "\(parameter.name): \($0.textForm)" }
    }
    return parameters.isEmpty ? self.name : "\(self.name)(\(parameters.joined(separator: ", ")))"
  }

  /// The part of the frame that the filter reads, and whether it is fused with other filters.
  var inputRegion: String {
    if self.category == .analysis { return "input frames; adds no pass and no delay" }
    switch self.reach {
    case .pixel: return "one pixel; fused with neighbouring filters into one pass"
    case .neighborhood: return "a neighbourhood; one pass, with neighbouring one-pixel filters"
    case .frame: return "the whole frame; a separate pass"
    }
  }
}

extension Fidelity {
  /// The fidelity, with its meaning.
  var summary: String {
    switch self {
    case .formula: "formula: the computation is documented or exact"
    case .modelled: "modelled: the behaviour is documented, the formula is ours"
    case .approximation: "approximation: a fixed look, tuned by eye"
    case .custom: "custom: a custom filter of this server"
    }
  }
}

extension ParameterDescription {
  /// The type of the value, and the unit of a number: `length in pixels`.
  var kindText: String {
    let kind =
      switch self.kind {
      case .number: "number"
      case .length: "length"
      case .point: "point"
      case .color: "colour"
      case .vector(let count): "\(count) numbers"
      case .flag: "true or false"
      case .choice(let names): "one of " + names.joined(separator: ", ")
      case .asset:
        switch self.assetKind {
        case .image?: "name of an image"
        case .cube?: "name of a colour table"
        case .font?: "name of a font"
        case .kernel?: "name of a kernel"
        case nil: "name of an asset"
        }
      case .text: "text"
      }
    switch (self.kind, self.unit) {
    // A length states its own unit; a bare number is in pixels.
    case (.length, _), (.point, _), (_, .none): return kind
    case (_, let unit): return "\(kind) in \(unit.rawValue)"
    }
  }

  /// The default in text form. `nil` if the parameter is required.
  var defaultText: String? {
    if self.defaultValue == .text("") { return "none" }
    return self.textDefault?.textForm
  }

  /// The range for a slider: `0 to 1`.
  var sliderText: String? { self.slider.map(Self.text) }

  /// The range of valid values: `-8 to 8`.
  var limitsText: String? { self.limits.map(Self.text) }

  /// A value for examples: the default, or a valid value for parameters without one. `nil` omits
  /// the parameter.
  var exampleValue: ParameterValue? {
    if let value = self.textDefault { return value == .text("") ? nil : value }
    switch self.kind {
    case .number, .length: return .number(self.slider?.upperBound ?? 1)
    case .point: return .point(.center)
    case .color: return .color(RGBAColor(red: 1, green: 1, blue: 1))
    case .vector(let count): return .vector(Array(repeating: 0, count: count))
    case .flag: return .flag(true)
    case .choice(let names): return .text(names.first ?? "")
    case .text: return .text("Ada Lovelace")
    case .asset:
      switch self.assetKind {
      case .cube?: return .text("look.cube")
      case .font?: return .text("brand.ttf")
      case .kernel?: return .text("glow.kernel")
      case .image?, nil: return .text("picture.png")
      }
    }
  }

  /// The default as a user writes it: a point in parentheses even if it was declared as two numbers
  /// of pixels.
  private var textDefault: ParameterValue? {
    guard self.kind == .point, case .vector(let numbers)? = self.defaultValue, numbers.count == 2
    else { return self.defaultValue }
    return .point(FramePoint(x: Length(numbers[0]), y: Length(numbers[1])))
  }

  private static func text(_ range: ClosedRange<Double>) -> String {
    "\(self.text(range.lowerBound)) to \(self.text(range.upperBound))"
  }

  /// Returns a number in text form, with multiples of π spelled out.
  private static func text(_ number: Double) -> String {
    for (multiple, name) in [(1.0, "π"), (2.0, "2π"), (-1.0, "-π"), (-2.0, "-2π")]
    where number == multiple * .pi {
      return name
    }
    return ParameterValue.number(number).textForm
  }
}
