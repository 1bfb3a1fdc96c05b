extension Settings {
  /// Each setting with its value and where that came from, for people; ended by a line break.
  public var table: String {
    let width = SettingTable.all.map(\.key.count).max() ?? 0
    return SettingTable.all.map { setting in
      "\(setting.key.padded(to: width))  \(self.words(for: setting).padded(to: 24))  "
        + "\(self.origin(of: setting))\n"
    }.joined()
  }

  /// A value for people; of a secret only whether there is one.
  public func words(for setting: Setting) -> String {
    if setting.isSecret, self.isGiven(setting.key) { return "<redacted>" }
    guard let texts = self.texts(of: setting) else { return "(\(setting.kind.none ?? "none"))" }
    if texts.isEmpty { return "(none)" }
    let words = texts.map(\.quotedWhereNeeded).joined(separator: ", ")
    // Times and sizes have their units with them.
    return words + (setting.kind.isCount ? setting.kind.unit.map { " \($0)" } ?? "" : "")
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - self.count))
  }
}
