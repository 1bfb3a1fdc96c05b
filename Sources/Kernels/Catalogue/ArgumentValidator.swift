/// A check of one filter call's parameters against the filter's description.
package struct ArgumentValidator {
  package let description: FilterDescription
  /// The path of the call: `stages[0].filter`.
  package let path: String

  /// The limits of numbers whose description doesn't state any. Filters do not overflow within
  /// them.
  package static let defaultLimits: ClosedRange<Double> = -1e6 ... 1e6

  /// Validates the values of a call and adds defaults.
  ///
  /// - Returns: A value for every parameter of the description.
  /// - Throws: ``PipelineError`` for the first error, parameters in alphabetical order.
  package func validate(_ given: [String: ParameterValue]) throws(PipelineError) -> Arguments {
    var values: [String: ParameterValue] = [:]
    for (name, value) in given.sorted(by: { $0.key < $1.key }) {
      let path = "\(self.path).parameters[\"\(name.clipped(toBytes: 64))\"]"
      guard let parameter = self.parameter(named: name) else {
        throw PipelineError(
          code: .unknownParameter, path: path,
          message:
            "\(self.description.name) has no parameter named \"\(name.clipped(toBytes: 64))\"",
          suggestion: Spelling.nearest(
            to: Spelling.canonicalParameter(name),
            among: self.description.parameters.map(\.name)),
          value: name)
      }
      guard values[parameter.name] == nil else {
        throw PipelineError(
          code: .duplicateParameter, path: path,
          message: "\(parameter.name) is given twice, once under another spelling")
      }
      values[parameter.name] = try Self.check(value, parameter, path: path)
    }
    for parameter in self.description.parameters where values[parameter.name] == nil {
      guard let value = parameter.defaultValue(after: values) else {
        throw PipelineError(
          code: .missingParameter, path: "\(self.path).parameters[\"\(parameter.name)\"]",
          message: "\(self.description.name) needs \(parameter.name), which has no default")
      }
      // A default may use the short spellings too.
      values[parameter.name] = try Self.check(value, parameter, path: self.path)
    }
    return Arguments(values: values)
  }

  private func parameter(named name: String) -> ParameterDescription? {
    let canonical = Spelling.canonicalParameter(name)
    return self.description.parameters.first { $0.name == name }
      ?? self.description.parameters.first { $0.name == canonical }
  }

  private static func check(
    _ value: ParameterValue, _ parameter: ParameterDescription, path: String
  ) throws(PipelineError) -> ParameterValue {
    let limits = parameter.limits ?? Self.defaultLimits
    switch (parameter.kind, value) {
    case (.number, .number(let number)):
      try Self.check(number, limits, parameter.name, path)
      return value
    case (.length, .number(let number)):
      try Self.check(number, limits, parameter.name, path)
      return .length(Length(number))
    case (.length, .length(let length)):
      try Self.check(length, limits, parameter.name, path)
      return value
    case (.point, .vector(let numbers)) where numbers.count == 2:
      let point = FramePoint(x: Length(numbers[0]), y: Length(numbers[1]))
      return try Self.check(.point(point), parameter, path: path)
    case (.point, .point(let point)):
      let reach = parameter.limits ?? -65536 ... 65536
      try Self.check(point.x, reach, "\(parameter.name).x", path)
      try Self.check(point.y, reach, "\(parameter.name).y", path)
      return value
    case (.color, .vector(let numbers)) where (3 ... 4).contains(numbers.count):
      let color = RGBAColor(
        red: numbers[0], green: numbers[1], blue: numbers[2],
        alpha: numbers.count == 4 ? numbers[3] : 1)
      return try Self.check(.color(color), parameter, path: path)
    case (.color, .color(let color)):
      for channel in [color.red, color.green, color.blue, color.alpha] {
        try Self.check(channel, parameter.limits ?? -8 ... 8, parameter.name, path)
      }
      return value
    case (.vector(let count), .vector(let numbers)) where numbers.count == count:
      for number in numbers { try Self.check(number, limits, parameter.name, path) }
      return value
    case (.flag, .flag), (.asset, .text), (.text, .text):
      return value
    case (.choice(let names), .text(let name)):
      guard names.contains(name) else {
        throw PipelineError(
          code: .outOfLimits, path: path,
          message: "\(parameter.name) is \"\(name.clipped(toBytes: 64))\", not one of "
            + names.joined(separator: ", "),
          suggestion: Spelling.nearest(to: name, among: names), value: name,
          limit: names.joined(separator: ", "))
      }
      return value
    default:
      throw PipelineError(
        code: .wrongType, path: path,
        message: "\(parameter.name) takes \(parameter.kind.displayName), not \(value.displayName)")
    }
  }

  private static func check(
    _ number: Double, _ limits: ClosedRange<Double>, _ name: String, _ path: String
  ) throws(PipelineError) {
    guard number.isFinite, limits.contains(number) else {
      throw PipelineError(
        code: .outOfLimits, path: path,
        message: "\(name) is \(number), outside \(limits.lowerBound) ... \(limits.upperBound)",
        value: "\(number)", limit: "\(limits.lowerBound) ... \(limits.upperBound)")
    }
  }

  /// Checks a length. A relative length is limited in frame sizes, because its pixels are not known
  /// yet.
  private static func check(
    _ length: Length, _ limits: ClosedRange<Double>, _ name: String, _ path: String
  ) throws(PipelineError) {
    switch length.unit {
    case .pixels: try Self.check(length.value, limits, name, path)
    case .width, .height, .shortSide:
      try Self.check(length.value, limits.lowerBound < 0 ? -4 ... 4 : 0 ... 4, name, path)
    }
  }
}

extension ParameterDescription.Kind {
  /// The kind in error messages: `a number`.
  var displayName: String {
    switch self {
    case .number: "a number"
    case .length: "a length"
    case .point: "a point"
    case .color: "a colour"
    case .vector(let count): "\(count) numbers"
    case .flag: "true or false"
    case .choice(let names): "one of " + names.joined(separator: ", ")
    case .asset: "the name of an asset"
    case .text: "a text"
    }
  }
}

extension ParameterValue {
  /// The kind in error messages: `a number`.
  var displayName: String {
    switch self {
    case .number: "a number"
    case .length: "a length"
    case .point: "a point"
    case .color: "a colour"
    case .vector(let numbers): "\(numbers.count) numbers"
    case .flag: "true or false"
    case .text: "a text"
    }
  }
}
