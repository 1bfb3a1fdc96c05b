#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
