public import SidelightWire

/// What one caller may use: whoever he has proved to be, else the user of a Unix socket, else the
/// address.
public struct Quotas: Sendable, Hashable {
  /// - `sessions` (count, default: 256): sessions at a time; `open` beyond is refused with
  ///   RESOURCE_EXHAUSTED.
  public var sessions = 256
  /// - `framesPerSecond` (per second, optional, default: none): frames, those of all sessions and still
  ///   images together. As many may come at once as in a second, at least one. Frames beyond end as
  ///   `dropped`, RATE_LIMITED; a session that never drops is held back; still images are refused with
  ///   RESOURCE_EXHAUSTED.
  public var framesPerSecond: Double?
  /// - `bytesPerSecond` (bytes per second, optional, default: none): the bytes of those frames' pixels
  ///   or files, wherever they lie. As many may come at once as in a second; a larger frame passes when
  ///   a second's worth is there, and is made up for before the next does. What is beyond ends as above.
  public var bytesPerSecond: Double?

  /// The defaults.
  public init() {}

  /// Whether all is in its range.
  ///
  /// - Throws: `ConfigurationFault` that names the setting.
  public func validate() throws(ConfigurationFault) {
    for (name, value) in [
      ("framesPerSecond", self.framesPerSecond), ("bytesPerSecond", self.bytesPerSecond),
    ] {
      guard let value, !(value > 0 && value.isFinite) else { continue }
      throw ConfigurationFault(setting: "quotas.\(name)", value: "\(value)", range: "more than 0")
    }
    guard self.sessions >= 0 else {
      throw ConfigurationFault(
        setting: "quotas.sessions", value: "\(self.sessions)", range: "0 or more")
    }
  }
}
