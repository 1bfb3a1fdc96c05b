package import Logging
package import SidelightWire
import Synchronization

/// The counts of a server's connections and of the actions of its guards, which it also logs. The
/// server's listeners share it.
package final class ConnectionCounters: Sendable {
  /// A snapshot of the counts.
  package struct Counts: Sendable {
    /// Open connections.
    package var open = 0
    /// Connections that have ended, by the reason.
    package var ended: [ConnectionEnd: UInt64] = [:]
    /// The number of actions per guard, without guards that have never acted.
    package var guards: [Guard: Int] = [:]
  }

  private let state = Mutex(Counts())
  private let logger: Logger

  package init(logger: Logger) {
    self.logger = logger
  }

  /// The counts so far.
  package var counts: Counts { self.state.withLock { $0 } }

  /// Records an action of a guard.
  ///
  /// - Parameter peer: The peer's address.
  func record(_ guardName: Guard, against peer: String) {
    self.state.withLock { $0.guards[guardName, default: 0] += 1 }
    // Not at a higher level: an attacker would fill the log.
    self.logger.debug(
      "a guard acted", metadata: ["guard": "\(guardName.rawValue)", "peer": "\(peer)"])
  }

  /// Records that a connection has been opened.
  func begin() {
    self.state.withLock { $0.open += 1 }
  }

  /// Records that a connection has ended.
  ///
  /// - Parameters:
  ///   - end: The reason.
  ///   - details: The guard, or the error's own description.
  ///   - peer: The peer, for the log.
  func record(_ end: ConnectionEnd, _ details: String?, of peer: String) {
    self.state.withLock { state in
      state.open -= 1
      state.ended[end, default: 0] += 1
    }
    var metadata: Logger.Metadata = ["reason": "\(end.rawValue)", "peer": "\(peer)"]
    if let details { metadata["details"] = "\(details)" }
    // Not at a higher level, not even for a failed handshake: a public port gets connections from
    // scanners all day. The counts reveal problems, and SIGHUP changes the level of the log.
    self.logger.debug("connection closed", metadata: metadata)
  }
}
