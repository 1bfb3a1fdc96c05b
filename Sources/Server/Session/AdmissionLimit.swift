/// A limit that keeps sessions out.
package enum AdmissionLimit: String, Sendable, Hashable, CaseIterable {
  /// Sessions in all.
  case sessions = "max_sessions"
  /// Sessions of one caller.
  case sessionsPerCaller = "max_sessions_per_caller"
  /// The load of those that stand.
  case load = "max_load"
}
