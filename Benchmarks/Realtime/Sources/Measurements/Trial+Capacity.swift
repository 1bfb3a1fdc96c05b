extension Trial {
  /// Measures the capacity for a load, in frames a second of all sessions: they send as soon as
  /// their windows have room, without dropping frames.
  static func capacity(
    _ load: Load, sessions: Int, usesUnixSocket: Bool = false, _ settings: Settings,
    _ server: ServerProcess
  ) async throws -> Double {
    var load = load
    load.pace = .closedLoop
    load.budget = nil
    let trial = Trial(
      loads: Array(repeating: load, count: sessions), warmUp: settings.warmUp,
      duration: settings.duration, usesUnixSocket: usesUnixSocket)
    let outcome = try await trial.run(against: server)
    Progress.report("capacity for \(load.picture), \(load.pipeline.name)", outcome)
    return outcome.goodput
  }
}
