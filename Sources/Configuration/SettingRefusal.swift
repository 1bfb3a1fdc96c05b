/// The reason why a value is invalid.
struct InvalidSettingValue: Error, Sendable, Hashable {
  /// A clause that follows the value and a semicolon: `the range is 1 to 64`.
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
