import SidelightTransport
public import SidelightWire

extension SidelightServer {
  /// Changes settings while the server runs. Open sessions continue without losing frames: a limit
  /// below the current use refuses new sessions until enough of them have closed.
  ///
  /// These settings take effect; all others are ignored:
  /// - `maxSessions`, `quotas.sessions`, `maxLoad`: for new sessions.
  /// - `framesInFlight`: for new sessions; open sessions keep the number that they were granted.
  /// - `maxConsecutiveErrors`, `customFilterTimeout`: immediately.
  /// - `resumeKeys`, `resumeTokenLifetime`: for tokens that are signed or presented from now on. If
  ///   the server started without keys, open sessions don't get tokens.
  /// - `quotas` of frames and bytes: immediately, also for open sessions.
  /// - `permissions`: for new sessions and calls, and for the next change of an open session's
  ///   pipeline. Until then a session keeps its pipeline. Call ``validate(_:)`` first.
  /// - `identity`: for new calls. ``reloadCertificates(_:)`` replaces certificates.
  /// - `guards`: the limits of connections and unfinished messages immediately, all others for new
  ///   connections and calls. The set of guards and the drain time do not change.
  public func reconfigure(_ configuration: ServerConfiguration) {
    self.engine.reconfigure(configuration)
    self.identity = configuration.identity
    self.guards.reconfigure(configuration.guards)
  }

  /// Checks the settings that depend on the server's filters.
  ///
  /// - Throws: `ConfigurationError` if a range of `permissions` names an unknown filter or
  ///   parameter.
  public func validate(_ configuration: ServerConfiguration) throws(ConfigurationError) {
    try configuration.permissions.validate(with: self.engine.compiler.catalogue)
  }
}
