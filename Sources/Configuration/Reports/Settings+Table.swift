extension Settings {
  /// A human-readable table of settings, values and origins, ended by a line break.
  public var table: String {
    let width = SettingTable.all.map(\.key.count).max() ?? 0
    return SettingTable.all.map { setting in
      "\(setting.key.padded(to: width))  \(self.words(for: setting).padded(to: 24))  "
        + "\(self.origin(of: setting))\n"
    }.joined()
  }

  /// Returns a human-readable value. Secrets are redacted.
  public func words(for setting: Setting) -> String {
    if setting.isSecret, self.isGiven(setting.key) { return "<redacted>" }
    guard let texts = self.texts(of: setting) else { return "(\(setting.kind.none ?? "none"))" }
    if texts.isEmpty { return "(none)" }
    let words = texts.map(\.quotedWhereNeeded).joined(separator: ", ")
    // Durations and sizes contain their units.
    return words + (setting.kind.isCount ? setting.kind.unit.map { " \($0)" } ?? "" : "")
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - self.count))
  }
}
