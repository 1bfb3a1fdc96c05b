import Foundation

extension SettingTable {
  static let limits = Group(
    title: "Limits",
    settings: [
      Setting(
        "limits.max-sessions", \.base.maxSessions, Form.count(1 ... 65536, of: "sessions"),
        flag: "max-sessions", use: .everyday, change: .onReload, "Sessions at a time."),
      Setting(
        "limits.max-sessions-per-caller", \.base.quotas.sessions,
        Form.count(1 ... 65536, of: "sessions"), flag: "max-sessions-per-caller", use: .everyday,
        change: .onReload, "Sessions of one caller at a time."),
      Setting(
        "limits.max-load", \.base.maxLoad,
        Form.ratio(0.01 ... 1000).orZero(
          "none is refused for load"),
        flag: "max-load", use: .everyday, change: .onReload,
        "The load from which on no session is let in: the work that arrives, as a part of what can be done."
      ),
      Setting(
        "limits.max-frame-pixels", \.base.maxFramePixels, Form.count(1 ... 1 << 28, of: "pixels"),
        "The largest frame."),
      Setting(
        "limits.max-plan-bytes", \.base.maxPlanBytes, Form.size(0 ... 1 << 40),
        "What one pipeline may hold in memory beside frames, for one size of frames."),
      Setting(
        "limits.max-total-plan-bytes", \.base.maxTotalPlanBytes, Form.size(0 ... 1 << 40),
        "What the pipelines of all sessions may hold together."),
      Setting(
        "limits.frames-in-flight", \.base.framesInFlight, Form.count(1 ... 64, of: "frames"),
        change: .onReload, "Frames of a session that may be without outcome; new sessions get it."),
      Setting(
        "limits.max-consecutive-errors", \.base.maxConsecutiveErrors,
        Form.count(1 ... 1_000_000, of: "faults"), change: .onReload,
        "Invalid frames and refused messages in a row after which a session ends."),
      Setting(
        "limits.custom-filter-timeout", \.base.customFilterTimeout,
        Form.duration(.milliseconds(1) ... .seconds(3600)), change: .onReload,
        "How long a filter of one's own may take where frames have no budget."),
    ])

  static let resume = Group(
    title: "Resuming sessions",
    settings: [
      Setting(
        "resume.enabled", \.resumesSessions, Form.toggle,
        "Whether sessions can be resumed after their connection is lost."),
      Setting(
        "resume.keys", \.resumeKeys, Form.resumeKey.list(atLeast: 1).optional(none: "a random one"),
        change: .onReload, isSecret: true,
        """
        What signs resume tokens; servers that share a key resume each other's sessions. The first \
        signs, all are accepted.
        """),
      Setting(
        "resume.keys-file", \.resumeKeyFile, Form.resumeKeyFile.optional(none: "none"),
        change: .onReload, "A file of such keys, one a line; its contents are never shown."),
      Setting(
        "resume.token-lifetime", \.base.resumeTokenLifetime,
        Form.duration(.seconds(10) ... .seconds(86400)), change: .onReload,
        "How long a resume token is good; clients get a new one after half of it."),
    ])
}

extension Form {
  fileprivate static var resumeKey: SettingForm<ResumeKey> {
    SettingForm(
      SettingKind(
        type: "secret", range: "NAME:SECRET, the secret in Base64 with at least 32 bytes"),
      parse: { text throws(SettingRefusal) in
        do throws(SettingRefusal) {
          return try ResumeKey(line: text)
        } catch {
          throw SettingRefusal("which \(error.reason)")
        }
      },
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
