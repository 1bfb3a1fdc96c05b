import SidelightWire

/// What sessions may do, as far as that can be changed while they stand.
struct SessionLimits: Sendable {
  /// Frames of a session that may be without outcome. New sessions get it.
  var framesInFlight: Int
  /// How long a filter of a user's own may take where frames have no budget.
  var customFilterTimeout: Duration
  /// Faults in a row after which a session ends.
  var maxConsecutiveErrors: Int
  /// Sessions that are let in.
  var admission: SessionRegistry.Limits

  init(_ configuration: ServerConfiguration) {
    self.framesInFlight = min(max(1, configuration.framesInFlight), 64)
    self.customFilterTimeout = configuration.customFilterTimeout
    self.maxConsecutiveErrors = configuration.maxConsecutiveErrors
    self.admission = SessionRegistry.Limits(
      total: configuration.maxSessions, perCaller: configuration.quotas.sessions,
      load: configuration.maxLoad)
  }
}
