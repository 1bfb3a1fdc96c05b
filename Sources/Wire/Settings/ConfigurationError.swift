/// A setting whose value is out of its range.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The setting, by its path: `transport.streamWindowBytes`.
  public let setting: String
  /// Its value.
  public let value: String
  /// The allowed values.
  public let range: String

  /// Creates an error.
  public init(setting: String, value: String, range: String) {
    self.setting = setting
    self.value = value
    self.range = range
  }

  /// The setting, its value, and the allowed values.
  public var description: String {
    "\(self.setting) is \(self.value), the range is \(self.range)"
  }
}
