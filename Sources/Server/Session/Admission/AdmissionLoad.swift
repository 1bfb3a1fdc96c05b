/// The load that a new session would find, relative to the capacity of the compute threads.
///
/// The scheduler divides the threads fairly, so a session that demands more than its share only
/// loses its own frames. Therefore a session's demand counts up to a sixteenth of the capacity, and
/// the sessions of another caller count together up to that caller's fair share: a few costly
/// sessions do not close the server to modest ones. Many sessions still do, once a new one would
/// lose every second frame.
package struct AdmissionLoad: Sendable {
  /// The work that arrives for a session.
  package struct Demand: Sendable {
    /// The session's caller, if known.
    package var caller: String?
    /// The work, relative to the capacity of the threads.
    package var work: Double

    package init(caller: String?, work: Double) {
      self.caller = caller
      self.work = work
    }
  }

  /// The maximum demand of a session that counts, and the minimum share of a caller.
  private static let share = 1.0 / 16

  /// The load; 2 means that every second frame of a new session would be lost.
  package let value: Double

  /// - Parameters:
  ///   - demands: The demands of the open sessions.
  ///   - caller: The caller of the new session, whose own sessions all count.
  package init(_ demands: [Demand], for caller: String) {
    var callers: [String?: Double] = [caller: 0]
    for demand in demands where demand.work > 0 {
      callers[demand.caller, default: 0] += min(demand.work, Self.share)
    }
    let fairShare = max(1 / Double(callers.count), Self.share)
    self.value = callers.reduce(0) { sum, entry in
      sum + (entry.key == caller ? entry.value : min(entry.value, fairShare))
    }
  }
}
