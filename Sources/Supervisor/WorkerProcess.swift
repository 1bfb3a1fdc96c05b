import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A worker's process, as its supervisor has it.
struct WorkerProcess {
  /// What becomes of it.
  enum News: Sendable {
    case ready
    /// It is over; ``WorkerProcess/reap()`` tells how.
    case ended
  }

  let id: pid_t
  let started: ContinuousClock.Instant
  /// When it came to serve.
  var served: ContinuousClock.Instant?

  /// Starts a worker.
  ///
  /// - Parameters:
  ///   - inheritance: What it is told; the line is filled in here.
  ///   - secret: What all workers share.
  ///   - onNews: Called on a thread of its own, ``News/ended`` last.
  /// - Throws: ``SystemFailure``.
  init(
    _ program: Program, _ inheritance: WorkerInheritance, secret: [UInt8],
    onNews: @escaping @Sendable (News) -> Void
  ) throws(SystemFailure) {
    let (line, far) = try ControlLine.pair()
    defer { far.end() }
    line.say(secret)
    var inheritance = inheritance
    inheritance.control = far.descriptor
    self.started = .now
    do {
      self.id = try program.start(
        adding: [WorkerInheritance.variable: inheritance.text],
        descriptors: [far.descriptor] + inheritance.sockets.map(\.descriptor))
    } catch {
      line.end()
      throw error
    }
    // All that happens on it is to wait.
    Thread.detachNewThread { [id] in
      if !line.hear(1).isEmpty { onNews(.ready) }
      Self.waitUntilOver(id)
      line.end()
      onNews(.ended)
    }
  }

  /// Sends a signal. The process' number is its own until ``reap()``, so nobody else gets it.
  func send(_ signal: Int32) { kill(self.id, signal) }

  /// Takes leave of a process that is over, or waits until it is.
  func reap() -> WorkerEnd {
    var status: Int32 = 0
    while waitpid(self.id, &status, 0) < 0, errno == EINTR {}
    return WorkerEnd(status: status)
  }

  /// Leaves it to be reaped.
  private static func waitUntilOver(_ id: pid_t) {
    var info = siginfo_t()
    while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
  }
}
