import Foundation
public import Logging
public import SidelightServer
import UnixSignals

/// Holds a server's sockets, and has worker processes serve on them: what ends a worker, a trap in a filter
/// for example, ends that worker's sessions alone. They resume with the others, and it is started anew.
///
/// The workers are this very program with the same arguments; it asks ``Worker/inherited()`` first, and
/// supervises when it is none:
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
  /// - `workers` (count, at least 1): how many there are.
  public var workers: Int
  /// - `addresses`: where they listen, all at all of them.
  public var addresses: [Address]
  /// - `unixSocketPermissions` (mode, default: 0600, the owner): who may connect to Unix sockets.
  public var unixSocketPermissions: UInt16 = 0o600
  /// - `shutdownGrace` (duration, default: 10 s): what a shutdown may take; workers that are left then are
  ///   killed.
  public var shutdownGrace = Duration.seconds(10)
  /// How workers that ended are started anew.
  public var backoff = RestartBackoff()
  /// Where logs go.
  public var logger: Logger

  /// - Parameters:
  ///   - workers: How many there are.
  ///   - addresses: Where they listen.
  ///   - logger: Where logs go.
  /// - Precondition: There is one worker at least.
  public init(
    workers: Int, addresses: [Address], logger: Logger = Logger(label: "sidelight.supervisor")
  ) {
    precondition(workers > 0, "a supervisor has workers")
    self.workers = workers
    self.addresses = addresses
    self.logger = logger
  }

  /// Supervises until SIGTERM or SIGINT: all workers get a SIGTERM then, and drain as any server does. A
  /// second signal kills them, and ends the process with 128 and its number. SIGHUP goes to all workers.
  ///
  /// The first worker is started alone; if one of them ends before all serve for the first time, the others
  /// end too. After that they are started anew. If the task is cancelled they are killed.
  ///
  /// - Parameter onListening: Called once all workers serve, with the ports that the system chose.
  /// - Throws: ``ListeningError`` if an address cannot be bound; ``WorkerFailure`` if a worker does not come
  ///   to serve at first, or does not drain well.
  public func run(
    onListening: @escaping @Sendable ([Address]) -> Void = { _ in }
  ) async throws {
    // First of all, so that none of them ends a process that holds sockets.
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
    let crew = WorkerCrew(self, sockets: sockets, onListening: onListening)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await signal in signals { crew.note(signal) }
      }
      group.addTask { try await crew.work() }
      // Signals come without end.
      defer { group.cancelAll() }
      _ = try await group.next()
    }
  }
}
