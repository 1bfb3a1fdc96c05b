/// The description of a setting's values.
public struct SettingKind: Sendable, Hashable {
  /// The type of a value: `integer`, `duration`, `address`.
  public var type: String
  /// The unit, if the text of a value does not contain it: `sessions`.
  public var unit: String?
  /// The valid values: `1 to 65536`, `latency or throughput`.
  public var range: String?
  /// The meaning of no value, if that is valid: `chosen by the system`.
  public var none: String?
  /// Whether the setting is a list.
  public var isList = false
  /// Whether a value is a bare number that counts ``unit``.
  public var isCount = false
  /// Whether a value is Boolean; its flag then needs no value.
  public var isSwitch = false
}
