import Logging
import Synchronization

/// Counts what becomes of connections and what guards do, and tells the log of it. Shared by a server's
/// listeners.
final class ConnectionLedger: Sendable {
  /// What was counted so far.
  struct Counts: Sendable {
    /// Connections that stand.
    var standing = 0
    /// Connections that have ended, by the reason.
    var ended: [ConnectionEnd: UInt64] = [:]
    /// How often each guard has acted; those that never have are left out.
    var guards: [Guard: Int] = [:]
  }

  private let state = Mutex(Counts())
  private let logger: Logger

  init(logger: Logger) {
    self.logger = logger
  }

  /// What was counted so far.
  var counts: Counts { self.state.withLock { $0 } }

  /// A guard has acted.
  ///
  /// - Parameter peer: The peer's address.
  func record(_ which: Guard, against peer: String) {
    self.state.withLock { $0.guards[which, default: 0] += 1 }
    // Not louder: whoever attacks would fill the log.
    self.logger.debug(
      "a guard acted", metadata: ["guard": "\(which.rawValue)", "peer": "\(peer)"])
  }

  /// A connection stands.
  func begin() {
    self.state.withLock { $0.standing += 1 }
  }

  /// A connection that stood is gone.
  ///
  /// - Parameters:
  ///   - end: Why.
  ///   - details: What else is known: the guard, or the error in its own words.
  ///   - peer: Who was at its other end.
  func record(_ end: ConnectionEnd, _ details: String?, of peer: String) {
    self.state.withLock { state in
      state.standing -= 1
      state.ended[end, default: 0] += 1
    }
    var metadata: Logger.Metadata = ["reason": "\(end.rawValue)", "peer": "\(peer)"]
    if let details { metadata["details"] = "\(details)" }
    // Not louder, not even for a handshake that fails: a port that is open to the world is knocked at all
    // day. The counts tell when there is something to see, and SIGHUP makes the log tell it.
    self.logger.debug("connection closed", metadata: metadata)
  }
}
