/// Why a value is not taken.
struct SettingRefusal: Error, Sendable, Hashable {
  /// A clause that follows the value: `the range is 1 to 64`.
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
