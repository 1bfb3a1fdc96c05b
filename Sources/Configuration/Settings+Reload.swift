extension Settings {
  /// What a second reading of the sources changes in a server that runs.
  public struct Reload: Sendable {
    /// What the server runs with from now on.
    public let settings: Settings
    /// What changed.
    public let applied: [Setting]
    /// What is otherwise now, and stays as it was until the server is started again.
    public let awaitingRestart: [Setting]
  }

  /// Takes from newer settings what can be changed in a server that runs; the rest stays as it is.
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
