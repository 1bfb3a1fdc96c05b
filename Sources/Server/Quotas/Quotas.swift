public import SidelightWire

/// The limits of one caller, identified by its authenticated name, else by the user of a Unix
/// socket, else by its address.
public struct Quotas: Sendable, Hashable {
  /// - `sessions` (count, default: 256, range: 0 or more): open sessions; `open` beyond is refused
  ///   with RESOURCE_EXHAUSTED.
  public var sessions = 256
  /// - `framesPerSecond` (per second, optional, default: `nil`, range: more than 0): frames of all
  ///   sessions and still images together. A burst may have the frames of one second, at least one.
  ///   Frames beyond the limit are dropped with RATE_LIMITED; a session that never drops has to
  ///   wait; still images are refused with RESOURCE_EXHAUSTED.
  public var framesPerSecond: Double?
  /// - `bytesPerSecond` (bytes per second, optional, default: `nil`, range: more than 0): bytes of
  ///   those frames' pixels or files, inline or in shared memory. A burst may have the bytes of one
  ///   second; a larger frame passes once the bytes of one second are available, and delays the
  ///   next. Frames beyond the limit end as above.
  public var bytesPerSecond: Double?
  /// - `codecBytes` (bytes, default: 4 GiB, range: 0 or more): memory of the decoders and encoders
  ///   of video in all sessions, as estimated from codecs and sizes. Frames for which a decoder would
  ///   exceed it are dropped with RATE_LIMITED, results for which an encoder would with STAGE_FAILED;
  ///   both drops state RESOURCE_EXHAUSTED.
  public var codecBytes = 4 << 30
  /// The limits of a participant, in addition to its caller's limits.
  public var participant = ParticipantQuotas()

  /// The defaults.
  public init() {}

  /// Whether the rates of callers or participants are limited.
  var limitsRates: Bool {
    self.framesPerSecond != nil || self.bytesPerSecond != nil
      || self.participant.framesPerSecond != nil || self.participant.bytesPerSecond != nil
  }

  /// Checks the ranges of the values.
  ///
  /// - Throws: `ConfigurationError` that names the setting.
  public func validate() throws(ConfigurationError) {
    for (name, value) in [
      ("framesPerSecond", self.framesPerSecond), ("bytesPerSecond", self.bytesPerSecond),
      ("participant.framesPerSecond", self.participant.framesPerSecond),
      ("participant.bytesPerSecond", self.participant.bytesPerSecond),
    ] {
      guard let value, !(value > 0 && value.isFinite) else { continue }
      throw ConfigurationError(setting: "quotas.\(name)", value: "\(value)", range: "more than 0")
    }
    for (name, value) in [
      ("sessions", self.sessions), ("participant.sessions", self.participant.sessions ?? 0),
      ("codecBytes", self.codecBytes),
    ] where value < 0 {
      throw ConfigurationError(setting: "quotas.\(name)", value: "\(value)", range: "0 or more")
    }
  }
}

/// The limits of one participant of a caller.
public struct ParticipantQuotas: Sendable, Hashable {
  /// - `sessions` (count, optional, default: `nil`, range: 0 or more): open sessions, as
  ///   ``Quotas/sessions``. `nil` disables the limit.
  public var sessions: Int?
  /// - `framesPerSecond` (per second, optional, default: `nil`, range: more than 0): frames, as
  ///   ``Quotas/framesPerSecond``. `nil` disables the limit.
  public var framesPerSecond: Double?
  /// - `bytesPerSecond` (bytes per second, optional, default: `nil`, range: more than 0): bytes of
  ///   frames, as ``Quotas/bytesPerSecond``. `nil` disables the limit.
  public var bytesPerSecond: Double?

  /// The defaults: no limits.
  public init() {}

  var isLimited: Bool {
    self.sessions != nil || self.framesPerSecond != nil || self.bytesPerSecond != nil
  }
}
