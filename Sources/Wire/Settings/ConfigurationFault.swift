/// A setting that is out of its range.
public struct ConfigurationFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The setting, by its path: `transport.streamWindowBytes`.
  public let setting: String
  /// Its value.
  public let value: String
  /// What it may be.
  public let range: String

  /// States a fault.
  public init(setting: String, value: String, range: String) {
    self.setting = setting
    self.value = value
    self.range = range
  }

  /// The setting, its value, and what it may be.
  public var description: String {
    "\(self.setting) is \(self.value), the range is \(self.range)"
  }
}
