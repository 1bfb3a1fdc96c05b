import Foundation
import Logging
import SidelightWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Hands out rings on the companion socket, on a thread of its own: a descriptor can only be passed by
/// a call that the event loops do not make, and what comes here comes once a session.
struct CompanionService: Sendable {
  private let configuration: SharedMemoryConfiguration
  private let desk: RingDesk
  private let logger: Logger
  private let address: CompanionAddress
  private let listener: OwnedDescriptor

  /// Listens. ``run()`` must be called, which ends that.
  ///
  /// - Throws: ``SharedMemoryError`` if it cannot.
  init(
    _ configuration: SharedMemoryConfiguration, desk: RingDesk, logger: Logger
  ) throws(SharedMemoryError) {
    self.configuration = configuration
    self.desk = desk
    self.logger = logger
    self.address = try CompanionAddress(configuration.socketPath)
    self.address.removeStale()
    // Who others are, the connection itself says; where there are none, nobody else gets as far.
    let mode: UInt32 = configuration.allowedUserIDs.isEmpty ? 0o600 : 0o666
    do throws(SharedMemoryError) {
      self.listener = try CompanionSocket.listen(at: self.address.path, mode: mode)
    } catch {
      if configuration.socketPath == nil { self.address.remove() }
      throw error
    }
  }

  /// Serves until the task is cancelled; then nobody listens any more.
  func run() async {
    self.desk.setSocketPath(self.address.path)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let loop = CompanionLoop(
          listener: self.listener, configuration: self.configuration, desk: self.desk,
          logger: self.logger)
        Thread.detachNewThread {
          loop.run()
          continuation.resume()
        }
      }
    } onCancel: {
      self.desk.setSocketPath(nil)
      // Wakes the thread, now or when it comes to wait.
      shutdown(self.listener.number, CInt(SHUT_RDWR))
    }
    // The thread may have ended by itself: what nobody can fetch is not offered.
    self.desk.setSocketPath(nil)
    self.address.remove()
  }
}
