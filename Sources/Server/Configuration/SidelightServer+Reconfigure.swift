import SidelightTransport

extension SidelightServer {
  /// Changes what can be changed while the server runs. No session loses a frame by it, and none is
  /// ended: limits that are lower than what stands keep newcomers out until there is room.
  ///
  /// Of a configuration these are taken; everything else is left alone:
  /// - `maxSessions`, `quotas.sessions`, `maxLoad`: for sessions that are opened from now on.
  /// - `framesInFlight`: for sessions that are opened from now on; others keep what they were granted.
  /// - `maxConsecutiveErrors`, `customFilterTimeout`: at once.
  /// - `resumeKeys`, `resumeTokenLifetime`: for tokens that are signed or shown from now on. Where the
  ///   server began without keys, sessions that stand get no tokens.
  /// - `quotas` of frames and bytes: at once, also for sessions that stand.
  /// - `identity`: for calls that begin from now on. Certificates have ``reloadCertificates(_:)``.
  /// - `guards`: the limits of connections and unfinished messages at once, all others for connections
  ///   and calls that begin from now on. Which guards stand, and the time of a drain, stay.
  public func reconfigure(_ configuration: ServerConfiguration) {
    self.engine.reconfigure(configuration)
    self.identity = configuration.identity
    self.guards.reconfigure(configuration.guards)
  }
}
