/// A filter by name, and the parameters that differ from its defaults.
public struct FilterCall: Sendable, Hashable {
  /// The filter's name: `sepiaTone`, or Core Image's own `CISepiaTone`.
  public var name: String
  /// Values by parameter name: `intensity`, or Core Image's own `inputIntensity`.
  public var parameters: [String: ParameterValue]

  /// Names a filter, with the parameters that differ from its defaults.
  public init(name: String, parameters: [String: ParameterValue] = [:]) {
    self.name = name
    self.parameters = parameters
  }
}
