import Foundation
public import ServiceLifecycle
public import SidelightServer
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The connection of a worker to its supervisor. Reports that the server listens, and sends SIGTERM
/// to this process when the supervisor has ended, whatever the cause.
///
/// Run it in the same service group as the server, with graceful shutdown on SIGTERM.
public struct WorkerLink: Service, CustomStringConvertible {
  private let worker: Worker
  private let server: SidelightServer

  /// - Parameters:
  ///   - worker: The worker that this process is.
  ///   - server: The worker's server.
  public init(_ worker: Worker, server: SidelightServer) {
    self.worker = worker
    self.server = server
  }

  /// The name of the service, for logs.
  public var description: String { "WorkerLink" }

  /// Watches the supervisor until graceful shutdown begins, or the task is cancelled.
  public func run() async throws {
    // If the server does not listen, it reports the reason, and this process ends.
    guard (try? await self.server.listeningAddresses) != nil else {
      return try await gracefulShutdown()
    }
    let control = self.worker.control
    let isStopped = Mutex(false)
    control.sendBytes([1])
    await cancelWhenGracefulShutdown {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          // The supervisor sends nothing else: this returns when it ends, or when the watch stops.
          Thread.detachNewThread {
            _ = control.receiveBytes(1)
            continuation.resume()
          }
        }
      } onCancel: {
        isStopped.withLock { $0 = true }
        control.stopReceiving()
      }
    }
    guard !isStopped.withLock(\.self) else { return }
    kill(getpid(), SIGTERM)
    try await gracefulShutdown()
  }
}
