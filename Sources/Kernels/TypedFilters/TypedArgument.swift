/// A value that a typed filter function passes on as a parameter.
protocol TypedArgument {
  var parameterValue: ParameterValue { get }
}

extension Stage {
  /// Creates a stage from a filter and its parameters that have a value; the catalogue's defaults
  /// apply to the others.
  static func filter(_ name: String, given arguments: [String: (any TypedArgument)?]) -> Stage {
    .filter(name, arguments.compactMapValues { $0?.parameterValue })
  }
}

extension Double: TypedArgument {
  var parameterValue: ParameterValue { .number(self) }
}

extension Length: TypedArgument {
  /// Pixels are a bare number, as in the text form.
  var parameterValue: ParameterValue {
    self.unit == .pixels ? .number(self.value) : .length(self)
  }
}

extension FramePoint: TypedArgument {
  var parameterValue: ParameterValue { .point(self) }
}

extension RGBAColor: TypedArgument {
  var parameterValue: ParameterValue { .color(self) }
}

extension Bool: TypedArgument {
  var parameterValue: ParameterValue { .flag(self) }
}

extension [Double]: TypedArgument {
  var parameterValue: ParameterValue { .vector(self) }
}

extension String: TypedArgument {
  var parameterValue: ParameterValue { .text(self) }
}

extension TypedArgument where Self: RawRepresentable<String> {
  var parameterValue: ParameterValue { .text(self.rawValue) }
}
