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

extension Stage {
  /// Computes pixels by using a kernel, with values of the kernel's own parameters.
  ///
  /// - Parameters:
  ///   - asset: The name of the kernel.
  ///   - parameters: Values by the kernel's parameter names: numbers, flags, vectors and colours.
  public static func kernel(
    asset: String, parameters: [String: any KernelArgument]
  ) -> Stage {
    .filter("kernel", parameters.mapValues(\.kernelValue).merging(["asset": .text(asset)]) { $1 })
  }

  /// Computes pixels by using the text of a kernel, with values of the kernel's own parameters.
  ///
  /// - Parameters:
  ///   - source: The text, of at most ``Pipeline/maxTextBytes``.
  ///   - parameters: Values by the names of the kernel's parameters.
  public static func kernel(
    source: String, parameters: [String: any KernelArgument]
  ) -> Stage {
    .filter(
      "kernel", parameters.mapValues(\.kernelValue).merging(["source": .text(source)]) { $1 })
  }
}

/// A value of a kernel's parameter.
public protocol KernelArgument {
  /// The value in pipelines.
  var kernelValue: ParameterValue { get }
}

extension Double: KernelArgument {
  /// A number.
  public var kernelValue: ParameterValue { .number(self) }
}

extension Bool: KernelArgument {
  /// A flag.
  public var kernelValue: ParameterValue { .flag(self) }
}

extension [Double]: KernelArgument {
  /// A vector.
  public var kernelValue: ParameterValue { .vector(self) }
}

extension RGBAColor: KernelArgument {
  /// A colour.
  public var kernelValue: ParameterValue { .color(self) }
}
