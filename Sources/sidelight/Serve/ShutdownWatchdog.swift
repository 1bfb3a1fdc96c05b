import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Bounds the duration of a shutdown: the process exits with status 0 when the grace period ends,
/// and at once on a second signal, even if something is stuck.
///
/// A service group shuts its services down in reverse order. As the first service, this one runs
/// until all others have ended.
struct ShutdownWatchdog: Service, CustomStringConvertible {
  /// The maximum duration of a shutdown.
  let grace: Duration
  /// Whether a second signal stops the process at once. False in a worker: terminals and service
  /// managers signal it together with its supervisor, which forces it to stop.
  let isForcedBySecondSignal: Bool
  let logger: Logger
  /// The name of the service, for logs.
  var description: String { "ShutdownWatchdog" }

  func run() async throws {
    var isShuttingDown = false
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    for await signal in signals.cancelOnGracefulShutdown() {
      guard !isShuttingDown else {
        guard self.isForcedBySecondSignal else { continue }
        self.logger.notice("second signal: stopping at once")
        _exit(128 + signal.rawValue)
      }
      isShuttingDown = true
      self.logger.notice("shutting down", metadata: ["grace": "\(self.grace)"])
      self.exitAfterGracePeriod()
    }
  }

  /// Exits on a dedicated thread, since stuck work may occupy all others.
  private func exitAfterGracePeriod() {
    let (seconds, attoseconds) = self.grace.components
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: Double(seconds) + Double(attoseconds) * 1e-18)
      self.logger.notice("shutdown grace period over: aborting remaining work")
      _exit(EXIT_SUCCESS)
    }
  }
}
