/// What is said of a setting's values.
public struct SettingKind: Sendable, Hashable {
  /// What a value is: `whole number`, `duration`, `address`.
  public var type: String
  /// What it counts, where the value itself does not say: `sessions`.
  public var unit: String?
  /// Which values there are: `1 to 65536`, `latency or throughput`.
  public var range: String?
  /// What it means that nothing is given, where that is a value of its own: `the system's`.
  public var none: String?
  /// Whether there may be several.
  public var isList = false
  /// Whether it is a bare number, of what ``unit`` says.
  public var isCount = false
  /// Whether it is yes or no; its flag then needs no value.
  public var isSwitch = false
}
