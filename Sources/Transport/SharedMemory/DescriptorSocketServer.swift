import Foundation
import Logging
import SidelightWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Hands out rings on the companion socket, on a thread of its own: a descriptor can only be passed by
/// a call that the event loops do not make, and what comes here comes once a session.
struct CompanionService: Sendable {
  private let configuration: SharedMemoryConfiguration
  private let desk: RingDesk
  private let logger: Logger
  private let address: CompanionAddress
  private let file: UnixSocketFile
  private let listener: OwnedDescriptor

  /// Listens. ``run()`` must be called, which ends that.
  ///
  /// - Throws: ``SharedMemoryError`` if there is no folder for the socket, ``ListeningError`` if it
  ///   cannot be bound.
  init(
    _ configuration: SharedMemoryConfiguration, desk: RingDesk, logger: Logger
  ) async throws {
    self.configuration = configuration
    self.desk = desk
    self.logger = logger
    let address = try CompanionAddress(configuration.socketPath)
    self.address = address
    do {
      self.file = try await UnixSocketFile(
        listeningAt: address.path,
        // Who others are, the connection itself says; where there are none, nobody else gets as far.
        permissions: configuration.allowedUserIDs.isEmpty ? 0o600 : 0o666)
    } catch {
      address.removeFolder()
      throw error
    }
    self.listener = OwnedDescriptor(self.file.descriptor)
    // The loop takes whoever waits, and then serves those that it has.
    let flags = fcntl(self.listener.number, F_GETFL)
    _ = fcntl(self.listener.number, F_SETFL, flags | O_NONBLOCK)
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
    self.file.remove()
    self.address.removeFolder()
  }
}
