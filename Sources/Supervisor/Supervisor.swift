import Foundation
public import Logging
public import SidelightServer
import UnixSignals

/// Holds a server's sockets and runs worker processes that serve on them. A crash of a worker, such
/// as a trap in a filter, ends only that worker's sessions. They can resume on the other workers,
/// and the worker is restarted.
///
/// The workers run this program with the same arguments. The program calls ``Worker/inherited()``
/// first, and supervises if it is not a worker:
///
/// ```swift
/// guard let worker = try Worker.inherited() else {
///   return try await Supervisor(workers: 2, addresses: configuration.addresses).run()
/// }
/// worker.adapt(&configuration)
/// let server = SidelightServer(configuration: configuration, catalogue: catalogue)
/// try await ServiceGroup(
///   services: [server, WorkerLink(worker, server: server)],
///   gracefulShutdownSignals: [.sigterm], logger: logger
/// ).run()
/// ```
public struct Supervisor: Sendable {
  /// - `workers` (count, at least 1): the number of workers.
  public var workers: Int
  /// - `addresses`: the addresses on which every worker listens.
  public var addresses: [Address]
  /// - `unixSocketPermissions` (mode, default: 0600, the owner): the permissions of Unix sockets.
  public var unixSocketPermissions: UInt16 = 0o600
  /// - `shutdownGrace` (duration, default: 10 s): the maximum duration of a shutdown; remaining
  ///   workers are then killed.
  public var shutdownGrace = Duration.seconds(10)
  /// The delays before restarts of workers.
  public var backoff = RestartBackoff()
  /// The logger.
  public var logger: Logger

  /// - Parameters:
  ///   - workers: The number of workers.
  ///   - addresses: The addresses on which they listen.
  ///   - logger: The logger.
  /// - Precondition: `workers` is at least 1.
  public init(
    workers: Int, addresses: [Address], logger: Logger = Logger(label: "sidelight.supervisor")
  ) {
    precondition(workers > 0, "a supervisor needs at least 1 worker")
    self.workers = workers
    self.addresses = addresses
    self.logger = logger
  }

  /// Supervises until SIGTERM or SIGINT. Then all workers receive SIGTERM and drain. A second
  /// signal kills them and ends the process with status 128 plus the signal's number. SIGHUP is
  /// forwarded to all workers.
  ///
  /// The first worker starts alone. If a worker ends before all have served for the first time, the
  /// others end too; later it is restarted. Cancelling the task kills the workers.
  ///
  /// - Parameter onListening: Called when all workers serve, with the ports that the system chose.
  /// - Throws: ``ListeningError`` if an address cannot be bound; ``WorkerFailure`` if a worker
  ///   fails to start or to drain.
  public func run(
    onListening: @escaping @Sendable ([Address]) -> Void = { _ in }
  ) async throws {
    // First, so that no signal ends a process that holds sockets.
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    var sockets: [ListeningSocket] = []
    defer { for socket in sockets { socket.removeFile() } }
    do {
      for address in self.addresses {
        sockets.append(
          try await ListeningSocket(
            at: address, unixSocketPermissions: self.unixSocketPermissions))
      }
    } catch {
      for socket in sockets { socket.close() }
      throw error
    }
    let pool = WorkerPool(self, sockets: sockets, onListening: onListening)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await signal in signals { pool.handle(signal) }
      }
      group.addTask { try await pool.run() }
      // The sequence of signals never ends.
      defer { group.cancelAll() }
      _ = try await group.next()
    }
  }
}
