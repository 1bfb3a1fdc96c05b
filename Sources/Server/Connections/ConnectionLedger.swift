import Logging
import Synchronization

/// Counts what guards do, and tells the log of it. Shared by a server's listeners.
final class GuardLedger: Sendable {
  private let state = Mutex<[Guard: Int]>([:])
  private let logger: Logger

  init(logger: Logger) {
    self.logger = logger
  }

  /// How often each has acted; those that never have are left out.
  var counts: [Guard: Int] { self.state.withLock { $0 } }

  /// A guard has closed a connection, or ended or reset a call.
  ///
  /// - Parameter peer: The peer's address.
  func record(_ which: Guard, against peer: String) {
    self.state.withLock { $0[which, default: 0] += 1 }
    // Not louder: whoever attacks would fill the log.
    self.logger.debug(
      "a guard acted", metadata: ["guard": "\(which.rawValue)", "peer": "\(peer)"])
  }
}
