#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// How a worker's process ended.
public enum WorkerEnd: Sendable, Hashable, CustomStringConvertible {
  /// By itself, with that status.
  case exited(Int32)
  /// By that signal: 4 (SIGILL) or 5 (SIGTRAP) is a trap in Swift.
  case signalled(Int32)
  /// It could not be started, for that `errno`.
  case notStarted(Int32)

  /// - Parameter status: What `waitpid` tells.
  package init(status: Int32) {
    let signal = status & 0x7f
    self = signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
  }

  /// As a shell tells it: the status, or 128 and the signal's number; 1 where there was no process.
  public var exitCode: Int32 {
    switch self {
    case .exited(let status): status
    case .signalled(let signal): 128 + signal
    case .notStarted: 1
    }
  }

  /// In words: `SIGSEGV`, `exit status 64`.
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
