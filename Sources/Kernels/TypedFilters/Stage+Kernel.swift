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
