import Foundation

extension SettingTable {
  static let limits = Group(
    title: "Limits",
    settings: [
      Setting(
        "limits.max-sessions", \.base.maxSessions, Form.count(1 ... 65536, of: "sessions"),
        flag: "max-sessions", use: .everyday, change: .onReload, "Maximum number of sessions."),
      Setting(
        "limits.max-sessions-per-caller", \.base.quotas.sessions,
        Form.count(1 ... 65536, of: "sessions"), flag: "max-sessions-per-caller", use: .everyday,
        change: .onReload, "Maximum number of sessions per caller."),
      Setting(
        "limits.max-load", \.base.maxLoad,
        Form.ratio(0.01 ... 1000).orZero("no limit"),
        flag: "max-load", use: .everyday, change: .onReload,
        """
        Load at which new sessions are refused: the arriving work relative to the compute capacity.
        """),
      Setting(
        "limits.max-frame-pixels", \.base.maxFramePixels, Form.count(1 ... 1 << 28, of: "pixels"),
        "Maximum number of pixels of a frame."),
      Setting(
        "limits.max-plan-bytes", \.base.maxPlanBytes, Form.size(0 ... 1 << 40),
        "Maximum memory of one compiled pipeline for one frame size, without frames."),
      Setting(
        "limits.max-total-plan-bytes", \.base.maxTotalPlanBytes, Form.size(0 ... 1 << 40),
        "Maximum memory of the compiled pipelines of all sessions."),
      Setting(
        "limits.frames-in-flight", \.base.framesInFlight, Form.count(1 ... 64, of: "frames"),
        change: .onReload,
        "Maximum number of frames in flight per session; applies to new sessions."),
      Setting(
        "limits.max-consecutive-errors", \.base.maxConsecutiveErrors,
        Form.count(1 ... 1_000_000, of: "errors"), change: .onReload,
        "Consecutive invalid frames and refused messages that a session tolerates."),
      Setting(
        "limits.custom-filter-timeout", \.base.customFilterTimeout,
        Form.duration(.milliseconds(1) ... .seconds(3600)), change: .onReload,
        "Maximum run time of a custom filter on frames without a budget."),
    ])

  static let resume = Group(
    title: "Resuming sessions",
    settings: [
      Setting(
        "resume.enabled", \.resumesSessions, Form.toggle,
        "Allow clients to resume sessions after a lost connection."),
      Setting(
        "resume.keys", \.resumeKeys, Form.resumeKey.list(atLeast: 1).optional(none: "a random key"),
        change: .onReload, isSecret: true,
        """
        Keys that sign resume tokens: the first signs, all are accepted. Servers that share a key \
        resume each other's sessions.
        """),
      Setting(
        "resume.keys-file", \.resumeKeyFile, Form.resumeKeyFile.optional(none: "none"),
        change: .onReload, "File with resume keys, one per line; its contents are never shown."),
      Setting(
        "resume.token-lifetime", \.base.resumeTokenLifetime,
        Form.duration(.seconds(10) ... .seconds(86400)), change: .onReload,
        "Lifetime of resume tokens; clients get a new token after half of it."),
    ])
}

extension Form {
  fileprivate static var resumeKey: SettingForm<ResumeKey> {
    SettingForm(
      SettingKind(
        type: "secret", range: "NAME:SECRET, the secret at least 32 bytes in Base64"),
      parse: { text throws(SettingRefusal) in try ResumeKey(line: text) },
      text: { "\($0.id):\($0.secret.base64EncodedString())" })
  }
}

extension Form {
  fileprivate static var resumeKeyFile: SettingForm<ResumeKeyFile> {
    SettingForm(
      SettingKind(type: "path"),
      parse: { text throws(SettingRefusal) in try ResumeKeyFile(path: text) }, text: \.path)
  }
}
