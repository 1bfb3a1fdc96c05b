import CFilterProcess
import Foundation
import SidelightWire
import Synchronization

/// A filter process of the system: a shell's command in a session of its own.
final class ChildProcess: Sendable {
  /// The process ID, which is valid until the process is reaped.
  let id: pid_t
  /// Whether it has a network.
  let sharesNetwork: Bool
  /// The user that it runs as, if not this process's.
  let user: FilterProcessUser?
  /// Finished when the process has ended, and with a user of its own all processes that it started.
  let ended = Completion()
  /// Finished when its output has ended, which is after the processes that it started have ended.
  let outputEnded = Completion()
  private let isReaped = Mutex(false)

  /// The maximum length of a line of the log, in bytes. Longer lines are divided.
  static let maxLineBytes = 4096
  private static let maxDescriptors: UInt32 = 256
  private static let maxProcesses: UInt32 = 4096
  /// The maximum size of its private memory, in bytes: half of the machine's.
  private static let maxMemory = max(1 << 30, ProcessInfo.processInfo.physicalMemory / 2)

  private init(id: pid_t, sharesNetwork: Bool, user: FilterProcessUser?) {
    self.id = id
    self.sharesNetwork = sharesNetwork
    self.user = user
  }

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - command: A command for the shell.
  ///   - environment: Its variables.
  ///   - folder: Its working directory.
  ///   - user: The user that it runs as; `nil` for this process's.
  ///   - memory: A descriptor that it inherits as 3.
  ///   - onLine: Receives the lines of its output and errors, on a thread of its own.
  /// - Throws: ``FilterProcessError``.
  static func start(
    _ command: String, environment: [String: String], in folder: String,
    as user: FilterProcessUser?, memory: CInt,
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
        let id = command.withCString { command in
          folder.withCString { folder in
            variables.withUnsafeBufferPointer { variables in
              var program = cfp_program(
                command: command, environment: variables.baseAddress, output: writing,
                memory: memory, folder: folder, user: user?.id ?? geteuid(),
                group: user?.group ?? getegid(), max_descriptors: Self.maxDescriptors,
                max_processes: Self.maxProcesses, max_memory: Self.maxMemory)
              return cfp_start(&program, &isolation)
            }
          }
        }
        for variable in variables { free(variable) }
        close(writing)
        guard id > 0 else {
          close(reading)
          return continuation.resume(
            returning: .failure(FilterProcessError("it cannot be started: \(systemText(-id))")))
        }
        func has(_ flag: cfp_isolation) -> Bool { UInt32(isolation) & flag.rawValue != 0 }
        let process = ChildProcess(
          id: id, sharesNetwork: has(CFP_SHARES_NETWORK), user: has(CFP_KEEPS_USER) ? nil : user)
        Thread.detachNewThread {
          Self.readLines(from: reading, onLine)
          process.outputEnded.finish()
        }
        continuation.resume(returning: .success(process))
        cfp_wait(id)
        if let user = process.user { cfp_kill_all(user.id, user.group) }
        process.ended.finish()
      }
    }
    return try result.get()
  }

  /// Kills the process and the processes that it started. Has no effect after ``reap()``.
  func kill() {
    self.isReaped.withLock { isReaped in
      guard !isReaped else { return }
      _ = Foundation.kill(-self.id, SIGKILL)
      _ = Foundation.kill(self.id, SIGKILL)
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

  /// Releases the ID of a process that has ended, and kills the processes of its session.
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

/// The user of a filter process whose host runs as root. No other process has it, because processes of
/// one user can read each other's memory.
struct FilterProcessUser: Sendable {
  let id: uid_t
  let group: gid_t

  /// Whether processes get a user: whether this process is root.
  static let isNeeded = geteuid() == 0

  /// The group of all processes, which may use the socket.
  static let group: gid_t = getpwnam("nobody")?.pointee.pw_gid ?? 65534

  /// The users that systems keep for services without an account.
  private static let range: ClosedRange<uid_t> = 61184 ... 65519

  /// The random start keeps the users of several hosts apart.
  private static let users = Mutex(
    (last: uid_t.random(in: Self.range), taken: Set<uid_t>()))

  /// Returns a user that no process has; `nil` if this process is not root, or no user is left.
  static func take() -> FilterProcessUser? {
    guard Self.isNeeded else { return nil }
    let busy = Self.usersOfProcesses()
    return Self.users.withLock { users in
      for _ in Self.range {
        users.last = users.last < Self.range.upperBound ? users.last + 1 : Self.range.lowerBound
        if !busy.contains(users.last), users.taken.insert(users.last).inserted {
          return FilterProcessUser(id: users.last, group: Self.group)
        }
      }
      return nil
    }
  }

  /// The users of the system's processes: services that systemd gives a user of their own, and filter
  /// processes of other hosts.
  private static func usersOfProcesses() -> Set<uid_t> {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return entries.reduce(into: []) { users, entry in
      var attributes = stat()
      guard Int(entry) != nil, stat("/proc/\(entry)", &attributes) == 0 else { return }
      users.insert(attributes.st_uid)
    }
  }

  /// Gives the user back, when its process has ended.
  func release() {
    Self.users.withLock { _ = $0.taken.remove(self.id) }
  }

  /// Whether the user can run a command: read its program and the files that it names.
  func canRun(_ command: String) -> Bool {
    let words = command.words
    guard let program = words.first else { return false }
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let candidates =
      program.contains("/") ? [program] : folders.split(separator: ":").map { "\($0)/\(program)" }
    let files = candidates.filter { FileManager.default.isExecutableFile(atPath: $0) }.prefix(1)
    let paths =
      (files + words.dropFirst().filter { FileManager.default.fileExists(atPath: $0) }).map {
        strdup($0)
      } + [nil]
    defer { for path in paths { free(path) } }
    return cfp_can_read(self.id, self.group, paths) != 0
  }
}
