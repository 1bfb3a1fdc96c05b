import SidelightKernels
import SidelightWire

/// Texts about a parameter for the reference page and the terminal.
extension ParameterDescription {
  /// The type of the value, and the unit of a number: `length in pixels`.
  var kindWords: String {
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
        case nil: "name of an asset"
        }
      }
    switch (self.kind, self.unit) {
    // Each length has its own unit; a bare number is in pixels.
    case (.length, _), (.point, _), (_, .none): return kind
    case (_, let unit): return "\(kind) in \(unit.rawValue)"
    }
  }

  /// The default in text form. `nil` if the parameter is required.
  var defaultWords: String? {
    if self.defaultValue == .text("") { return "none" }
    return self.textDefault?.textForm
  }

  /// The range for a slider: `0 to 1`.
  var sliderWords: String? { self.slider.map(Self.words) }

  /// The range of valid values: `-8 to 8`.
  var limitWords: String? { self.limits.map(Self.words) }

  /// A value for examples: the default, or a valid value if there is none. `nil` omits the
  /// parameter.
  var exampleValue: ParameterValue? {
    if let value = self.textDefault { return value == .text("") ? nil : value }
    switch self.kind {
    case .number, .length: return .number(self.slider?.upperBound ?? 1)
    case .point: return .point(.center)
    case .color: return .color(Color(red: 1, green: 1, blue: 1))
    case .vector(let count): return .vector(Array(repeating: 0, count: count))
    case .flag: return .flag(true)
    case .choice(let names): return .text(names.first ?? "")
    case .asset: return .text(self.assetKind == .cube ? "look.cube" : "picture.png")
    }
  }

  /// The default as a user writes it: a point in parentheses even if it was declared as two numbers
  /// of pixels.
  private var textDefault: ParameterValue? {
    guard self.kind == .point, case .vector(let numbers)? = self.defaultValue, numbers.count == 2
    else { return self.defaultValue }
    return .point(Point(x: Length(numbers[0]), y: Length(numbers[1])))
  }

  private static func words(_ range: ClosedRange<Double>) -> String {
    "\(self.words(range.lowerBound)) to \(self.words(range.upperBound))"
  }

  /// Returns a number in text form, with multiples of π spelled out.
  private static func words(_ number: Double) -> String {
    for (multiple, name) in [(1.0, "π"), (2.0, "2π"), (-1.0, "-π"), (-2.0, "-2π")]
    where number == multiple * .pi {
      return name
    }
    return ParameterValue.number(number).textForm
  }
}
