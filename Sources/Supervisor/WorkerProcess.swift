import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The process of a worker, in its supervisor.
struct WorkerProcess {
  /// An event of the process.
  enum Event: Sendable {
    case ready
    /// The process ended; ``WorkerProcess/reap()`` returns how.
    case ended
  }

  let id: pid_t
  let started: ContinuousClock.Instant
  /// The time at which it began to serve. `nil` before that.
  var served: ContinuousClock.Instant?

  /// Starts a worker.
  ///
  /// - Parameters:
  ///   - inheritance: The data for the worker. This function sets the control socket.
  ///   - secret: The secret that all workers share.
  ///   - onNews: Called on a dedicated thread; ``News/ended`` comes last.
  /// - Throws: ``SystemCallError``.
  init(
    _ program: Program, _ inheritance: WorkerInheritance, secret: [UInt8],
    onEvent: @escaping @Sendable (Event) -> Void
  ) throws(SystemCallError) {
    let (line, far) = try ControlSocket.pair()
    defer { far.closeDescriptor() }
    line.sendBytes(secret)
    var inheritance = inheritance
    inheritance.control = far.descriptor
    self.started = .now
    do {
      self.id = try program.start(
        adding: [WorkerInheritance.variable: inheritance.text],
        descriptors: [far.descriptor] + inheritance.sockets.map(\.descriptor))
    } catch {
      line.closeDescriptor()
      throw error
    }
    // This thread only waits.
    Thread.detachNewThread { [id] in
      if !line.receiveBytes(1).isEmpty { onEvent(.ready) }
      Self.waitUntilOver(id)
      line.closeDescriptor()
      onEvent(.ended)
    }
  }

  /// Sends a signal. The process ID is not reused before ``reap()``.
  func send(_ signal: Int32) { kill(self.id, signal) }

  /// Waits for the end of the process, and releases its ID.
  func reap() -> WorkerEnd {
    var status: Int32 = 0
    while waitpid(self.id, &status, 0) < 0, errno == EINTR {}
    return WorkerEnd(status: status)
  }

  /// Waits for the end of a process without reaping it.
  private static func waitUntilOver(_ id: pid_t) {
    var info = siginfo_t()
    while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
  }
}
