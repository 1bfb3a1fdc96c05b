import Foundation

extension SettingTable {
  static let limits = Group(
    title: "Limits",
    settings: [
      Setting(
        "limits.max-sessions", \.base.maxSessions, Format.count(1 ... 65536, of: "sessions"),
        flag: "max-sessions", use: .common, change: .onReload, "Maximum number of sessions."),
      Setting(
        "limits.max-sessions-per-caller", \.base.quotas.sessions,
        Format.count(1 ... 65536, of: "sessions"), flag: "max-sessions-per-caller", use: .common,
        change: .onReload, "Maximum number of sessions per caller."),
      Setting(
        "limits.max-load", \.base.maxLoad,
        Format.ratio(0.01 ... 1000).orZero("no limit"),
        flag: "max-load", use: .common, change: .onReload,
        """
        Load at which new sessions are refused: the arriving work relative to the compute capacity.
        """),
      Setting(
        "limits.max-frame-pixels", \.base.maxFramePixels, Format.count(1 ... 1 << 28, of: "pixels"),
        "Maximum number of pixels of a frame."),
      Setting(
        "limits.max-plan-bytes", \.base.maxPlanBytes, Format.size(0 ... 1 << 40),
        "Maximum memory of one compiled pipeline for one frame size, without frames."),
      Setting(
        "limits.max-total-plan-bytes", \.base.maxTotalPlanBytes, Format.size(0 ... 1 << 40),
        "Maximum memory of the compiled pipelines of all sessions."),
      Setting(
        "limits.frames-in-flight", \.base.framesInFlight, Format.count(1 ... 64, of: "frames"),
        change: .onReload,
        "Maximum number of frames in flight per session; applies to new sessions."),
      Setting(
        "limits.max-consecutive-errors", \.base.maxConsecutiveErrors,
        Format.count(1 ... 1_000_000, of: "errors"), change: .onReload,
        "Consecutive invalid frames and refused messages that a session tolerates."),
      Setting(
        "limits.custom-filter-timeout", \.base.customFilterTimeout,
        Format.duration(.milliseconds(1) ... .seconds(3600)), change: .onReload,
        "Maximum run time of a custom filter on frames without a budget."),
    ])

  static let resume = Group(
    title: "Resuming sessions",
    settings: [
      Setting(
        "resume.enabled", \.resumesSessions, Format.toggle,
        "Allow clients to resume sessions after a lost connection."),
      Setting(
        "resume.keys", \.resumeKeys,
        Format.resumeKey.list(atLeast: 1).optional(none: "a random key"),
        change: .onReload, isSecret: true,
        """
        Keys that sign resume tokens: the first signs, all are accepted. Servers that share a key \
        resume each other's sessions.
        """),
      Setting(
        "resume.keys-file", \.resumeKeyFile, Format.resumeKeyFile.optional(none: "none"),
        change: .onReload, "File with resume keys, one per line; its contents are never shown."),
      Setting(
        "resume.token-lifetime", \.base.resumeTokenLifetime,
        Format.duration(.seconds(10) ... .seconds(86400)), change: .onReload,
        "Lifetime of resume tokens; clients get a new token after half of it."),
    ])
}

extension Format {
  fileprivate static var resumeKey: SettingFormat<ResumeKey> {
    SettingFormat(
      SettingKind(
        type: "secret", range: "NAME:SECRET, the secret at least 32 bytes in Base64"),
      parse: { text throws(InvalidSettingValue) in try ResumeKey(line: text) },
      text: { "\($0.id):\($0.secret.base64EncodedString())" })
  }
}

extension Format {
  fileprivate static var resumeKeyFile: SettingFormat<ResumeKeyFile> {
    SettingFormat(
      SettingKind(type: "path"),
      parse: { text throws(InvalidSettingValue) in try ResumeKeyFile(path: text) }, text: \.path)
  }
}
