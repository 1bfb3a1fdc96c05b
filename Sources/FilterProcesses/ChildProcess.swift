import CFilterProcess
import Foundation
import SidelightWire
import Synchronization

/// A filter process of the system: a shell's command in a process group of its own.
final class ChildProcess: Sendable {
  /// The process ID, which is valid until the process is reaped.
  let id: pid_t
  /// Whether it has no network.
  let isIsolated: Bool
  /// Finished when the process has ended.
  let ended = Completion()
  /// Finished when its output has ended, which is after the processes that it started have ended.
  let outputEnded = Completion()
  private let isReaped = Mutex(false)

  /// The maximum length of a line of the log, in bytes. Longer lines are divided.
  private static let maxLineBytes = 4096
  private static let maxDescriptors: UInt32 = 256

  private init(id: pid_t, isIsolated: Bool) {
    self.id = id
    self.isIsolated = isIsolated
  }

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - command: A command for the shell.
  ///   - environment: Its variables.
  ///   - memory: A descriptor that it inherits as 3.
  ///   - onLine: Receives the lines of its output and errors, on a thread of its own.
  /// - Throws: ``FilterProcessError``.
  static func start(
    _ command: String, environment: [String: String], memory: CInt,
    onLine: @escaping @Sendable (_ line: String) -> Void
  ) async throws(FilterProcessError) -> ChildProcess {
    var ends: [CInt] = [-1, -1]
    let code = cfp_pipe(&ends)
    guard code == 0 else {
      throw FilterProcessError("no pipe can be made: \(systemText(-code))")
    }
    let (reading, writing) = (ends[0], ends[1])
    let result: Result<ChildProcess, FilterProcessError> = await withCheckedContinuation {
      continuation in
      // The system kills the process when the thread that started it ends, so the thread stays until
      // the process has ended.
      Thread.detachNewThread {
        var isolation: CInt = 0
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        let id = cfp_start(
          command, variables, writing, writing, memory, Self.maxDescriptors, &isolation)
        for variable in variables { free(variable) }
        close(writing)
        guard id > 0 else {
          close(reading)
          return continuation.resume(
            returning: .failure(FilterProcessError("it cannot be started: \(systemText(-id))")))
        }
        let process = ChildProcess(
          id: id, isIsolated: UInt32(isolation) == CFP_ISOLATED.rawValue)
        Thread.detachNewThread {
          Self.readLines(from: reading, onLine)
          process.outputEnded.finish()
        }
        continuation.resume(returning: .success(process))
        cfp_wait(id)
        process.ended.finish()
      }
    }
    return try result.get()
  }

  /// Kills the process and the processes that it started. Has no effect after ``reap()``.
  func kill() {
    self.isReaped.withLock { isReaped in
      if !isReaped { _ = Foundation.kill(-self.id, SIGKILL) }
    }
  }

  /// Kills the process unless it ends by itself within a time. A thread waits, because the task that
  /// runs the process may be cancelled.
  func kill(after time: TimeInterval) {
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: time)
      self.kill()
    }
  }

  /// Whether a signal has stopped the process.
  var isStopped: Bool {
    self.isReaped.withLock { isReaped in !isReaped && cfp_state(self.id) == CFP_STOPPED }
  }

  /// Releases the ID of a process that has ended, and kills the processes that it started.
  ///
  /// - Returns: The end as a clause: "it exited with status 1".
  func reap() -> String {
    self.isReaped.withLock { isReaped in
      _ = Foundation.kill(-self.id, SIGKILL)
      isReaped = true
      var status: CInt = 0
      while waitpid(self.id, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7F
      return signal == 0
        ? "it exited with status \(status >> 8 & 0xFF)" : "it was ended by signal \(signal)"
    }
  }

  private static func readLines(
    from descriptor: CInt, _ onLine: (_ line: String) -> Void
  ) {
    defer { close(descriptor) }
    var line: [UInt8] = []
    func flush() {
      if !line.isEmpty { onLine(String(decoding: line, as: UTF8.self)) }
      line = []
    }
    var buffer = [UInt8](repeating: 0, count: Self.maxLineBytes)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      for byte in buffer[..<count] {
        if byte == UInt8(ascii: "\n") {
          flush()
        } else {
          line.append(byte)
          if line.count == Self.maxLineBytes { flush() }
        }
      }
    }
    flush()
  }
}
