import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Sees to it that a shutdown comes to its end: whatever is stuck, the process exits with 0 when the
/// grace is over, and at once at a second signal.
///
/// A service group shuts its services down in reverse order. As the first of them this one stands until
/// all others have ended.
struct ShutdownWatch: Service, CustomStringConvertible {
  /// What a shutdown may take.
  let grace: Duration
  /// Whether a second signal stops the process at once. Not in a worker: a terminal and a service manager
  /// signal it beside its supervisor, whose matter it is to force it.
  let isForcedBySecondSignal: Bool
  let logger: Logger
  /// Its name, for logs.
  var description: String { "ShutdownWatch" }

  func run() async throws {
    var isShuttingDown = false
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    for await signal in signals.cancelOnGracefulShutdown() {
      guard !isShuttingDown else {
        guard self.isForcedBySecondSignal else { continue }
        self.logger.notice("a second signal: the server stops at once")
        _exit(128 + signal.rawValue)
      }
      isShuttingDown = true
      self.logger.notice("shutting down", metadata: ["grace": "\(self.grace)"])
      self.exitWhenGraceIsOver()
    }
  }

  /// On a thread of its own: what is stuck may hold all others.
  private func exitWhenGraceIsOver() {
    let (seconds, attoseconds) = self.grace.components
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: Double(seconds) + Double(attoseconds) * 1e-18)
      self.logger.notice("the time to shut down is over: what is left is cut off")
      _exit(EXIT_SUCCESS)
    }
  }
}
