import Foundation
public import Logging
// The interface of the supervisor contains addresses and configurations of servers.
@_exported public import SidelightServer
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
    // Trapped first, to keep signals from ending the process before it can remove its socket files.
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

/// The failure of a worker to start for the first time, or to drain.
public struct WorkerFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The number of the worker, from 0.
  public let worker: Int
  /// The end of its process.
  public let end: WorkerEnd

  package init(worker: Int, end: WorkerEnd) {
    self.worker = worker
    self.end = end
  }

  /// The worker and its end: `worker 1 ended: SIGSEGV`.
  public var description: String { "worker \(self.worker) ended: \(self.end)" }
}

/// The end of a worker's process.
public enum WorkerEnd: Sendable, Hashable, CustomStringConvertible {
  /// Exited with a status.
  case exited(Int32)
  /// Ended by a signal. A trap in Swift raises 4 (SIGILL) or 5 (SIGTRAP).
  case signalled(Int32)
  /// Not started; the `errno`.
  case notStarted(Int32)

  /// - Parameter status: The status from `waitpid`.
  package init(status: Int32) {
    let signal = status & 0x7f
    self = signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
  }

  /// The exit code as a shell reports it: the status, or 128 plus the signal's number. 1 if the
  /// process did not start.
  public var exitCode: Int32 {
    switch self {
    case .exited(let status): status
    case .signalled(let signal): 128 + signal
    case .notStarted: 1
    }
  }

  /// A short text: `SIGSEGV`, `exit status 64`.
  public var description: String {
    switch self {
    case .exited(let status): "exit status \(status)"
    case .signalled(let signal): Self.names[signal] ?? "signal \(signal)"
    case .notStarted(let code): "not started: \(String(cString: strerror(code)))"
    }
  }

  private static let names: [Int32: String] = [
    SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
    SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL",
    SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU",
    SIGSYS: "SIGSYS",
  ]
}
