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

/// A worker's tie to its supervisor: says that the server listens, and asks this process to end (SIGTERM)
/// when the supervisor is gone, however it went.
///
/// A group that runs the server runs this too, and begins graceful shutdown at SIGTERM.
public struct WorkerLink: Service, CustomStringConvertible {
  private let worker: Worker
  private let server: SidelightServer

  /// - Parameters:
  ///   - worker: Who this process is.
  ///   - server: What it serves.
  public init(_ worker: Worker, server: SidelightServer) {
    self.worker = worker
    self.server = server
  }

  /// Its name, for logs of what runs it.
  public var description: String { "WorkerLink" }

  /// Watches until graceful shutdown begins, or the task is cancelled.
  public func run() async throws {
    // Where it does not come to listening, the server itself says why, and this process ends.
    guard (try? await self.server.listeningAddresses) != nil else {
      return try await gracefulShutdown()
    }
    let line = self.worker.line
    let isStopped = Mutex(false)
    line.say([1])
    await cancelWhenGracefulShutdown {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          // Nothing else is ever said: this ends with the supervisor, or with the watch.
          Thread.detachNewThread {
            _ = line.hear(1)
            continuation.resume()
          }
        }
      } onCancel: {
        isStopped.withLock { $0 = true }
        line.stopHearing()
      }
    }
    guard !isStopped.withLock(\.self) else { return }
    kill(getpid(), SIGTERM)
    try await gracefulShutdown()
  }
}
