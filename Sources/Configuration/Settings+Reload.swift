extension Settings {
  /// The changes that a second reading of the sources makes to a running server.
  public struct Reload: Sendable {
    /// The settings that the server runs with from now on.
    public let settings: Settings
    /// The settings that changed.
    public let applied: [Setting]
    /// The settings that differ but keep their old values until the server restarts.
    public let awaitingRestart: [Setting]
  }

  /// Applies newer settings as far as a running server can change them.
  public func reloading(_ newer: Settings) -> Reload {
    var result = self
    var applied: [Setting] = []
    var awaitingRestart: [Setting] = []
    for setting in SettingTable.all
    where !setting.isSame(self.configuration, newer.configuration) {
      switch setting.change {
      case .onReload:
        result.take(setting, from: newer)
        applied.append(setting)
      case .onRestart: awaitingRestart.append(setting)
      }
    }
    return Reload(settings: result, applied: applied, awaitingRestart: awaitingRestart)
  }

  private mutating func take(_ setting: Setting, from newer: Settings) {
    setting.copy(from: newer.configuration, to: &self.configuration)
    self.setOrigin(of: setting, to: newer.origin(of: setting))
  }
}
