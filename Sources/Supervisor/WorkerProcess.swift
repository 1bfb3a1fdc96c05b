import Foundation

/// The process of a worker, in its supervisor.
struct WorkerProcess {
  /// An event of the process.
  enum Event: Sendable {
    /// The worker is ready to serve.
    case ready
    /// The process ended; ``WorkerProcess/reap()`` returns its status.
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
  ///   - onEvent: Called on a dedicated thread with every event; ``Event/ended`` is the last one.
  /// - Throws: ``SystemCallError``.
  init(
    _ program: Program, _ inheritance: WorkerInheritance, secret: [UInt8],
    onEvent: @escaping @Sendable (Event) -> Void
  ) throws(SystemCallError) {
    let (control, workerEnd) = try ControlSocket.pair()
    defer { workerEnd.closeDescriptor() }
    control.sendBytes(secret)
    var inheritance = inheritance
    inheritance.control = workerEnd.descriptor
    self.started = .now
    do {
      self.id = try program.start(
        adding: [WorkerInheritance.variable: inheritance.text],
        descriptors: Dictionary(
          ([workerEnd.descriptor] + inheritance.sockets.map(\.descriptor)).map { ($0, $0) },
          uniquingKeysWith: { first, _ in first }))
    } catch {
      control.closeDescriptor()
      throw error
    }
    // Receiving and waiting block their thread.
    Thread.detachNewThread { [id] in
      if !control.receiveBytes(1).isEmpty { onEvent(.ready) }
      Self.waitForEnd(id)
      control.closeDescriptor()
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
  private static func waitForEnd(_ id: pid_t) {
    var info = siginfo_t()
    while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
  }
}

/// A program to start with some of this process's descriptors.
package struct Program: Sendable {
  /// The path of the executable, or a name that is searched in the folders of `PATH`.
  let path: String
  let arguments: [String]
  let environment: [String: String]

  package init(path: String, arguments: [String], environment: [String: String]) {
    self.path = path
    self.arguments = arguments
    self.environment = environment
  }

  /// This program, with its arguments and environment. On Linux even if its file has been replaced.
  ///
  /// Swift's runtime takes seconds to print the backtrace of a trap, which delays the restart of a
  /// worker. Backtraces are disabled unless the environment enables them.
  static var current: Program {
    #if os(Linux)
      let path = "/proc/self/exe"
    #else
      let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
    #endif
    return Program(
      path: path, arguments: CommandLine.arguments,
      environment: ["SWIFT_BACKTRACE": "enable=no"]
        .merging(ProcessInfo.processInfo.environment) { _, existing in existing })
  }

  /// Starts the program, with the default handling of signals.
  ///
  /// - Parameters:
  ///   - environment: Variables to add to the program's environment.
  ///   - descriptors: The descriptors that the program inherits, by their numbers in the program,
  ///     in addition to standard input, output and error. All others must be marked close-on-exec.
  /// - Returns: The process ID.
  /// - Throws: ``SystemCallError``.
  package func start(
    adding environment: [String: String] = [:], descriptors: [Int32: Int32]
  ) throws(SystemCallError) -> Int32 {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Duplicating a descriptor onto itself clears close-on-exec.
    for (number, descriptor) in descriptors.sorted(by: { $0.key < $1.key }) {
      posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    }

    var emptySet = sigset_t()
    sigemptyset(&emptySet)
    posix_spawnattr_setsigmask(&attributes, &emptySet)
    var defaults = sigset_t()
    sigemptyset(&defaults)
    // Ignored signals stay ignored across `exec`.
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { sigaddset(&defaults, signal) }
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let variables = self.environment.merging(environment) { _, added in added }
      .map { "\($0.key)=\($0.value)" }
    var process: pid_t = 0
    let code = withCStrings(self.arguments) { arguments in
      withCStrings(variables) { variables in
        posix_spawnp(&process, self.path, &actions, &attributes, arguments, variables)
      }
    }
    guard code == 0 else { throw SystemCallError(call: "posix_spawn", code: code) }
    return process
  }
}

/// Calls a function with strings as a null-terminated array of C strings.
private func withCStrings<Result>(
  _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let copies = texts.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies + [nil])
}

/// The control socket between a supervisor and one worker. The supervisor sends a secret, the
/// worker reports that it is ready, and both detect the other's end, regardless of the cause.
struct ControlSocket: Sendable {
  /// The length of the secret in bytes.
  static let secretBytes = 32

  /// The descriptor of this end.
  let descriptor: Int32

  /// Creates a connected pair of sockets.
  ///
  /// - Throws: ``SystemCallError``.
  static func pair() throws(SystemCallError) -> (supervisor: ControlSocket, worker: ControlSocket) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Self.stream, 0, &ends) == 0 else {
      throw SystemCallError(call: "socketpair", code: errno)
    }
    return (ControlSocket(descriptor: ends[0]), ControlSocket(descriptor: ends[1]))
  }

  /// Sends bytes. They always fit into the socket's buffer. Failures are ignored: the end of the
  /// peer is detected elsewhere.
  func sendBytes(_ bytes: [UInt8]) { _ = send(self.descriptor, bytes, bytes.count, Self.noSignal) }

  /// Receives bytes, and blocks until they arrive.
  ///
  /// - Returns: The requested number of bytes; fewer if the peer has closed its end.
  func receiveBytes(_ count: Int) -> [UInt8] {
    var received: [UInt8] = []
    while received.count < count {
      var bytes = [UInt8](repeating: 0, count: count - received.count)
      let read = recv(self.descriptor, &bytes, bytes.count, 0)
      if read < 0, errno == EINTR { continue }
      guard read > 0 else { break }
      received += bytes[..<read]
    }
    return received
  }

  /// Ends pending and future calls of ``receiveBytes(_:)`` without bytes.
  func stopReceiving() { _ = shutdown(self.descriptor, Int32(SHUT_RD)) }

  /// Closes the descriptor in programs that this process starts.
  func setCloseOnExec() { _ = fcntl(self.descriptor, F_SETFD, FD_CLOEXEC) }

  /// Closes the descriptor.
  func closeDescriptor() { _ = close(self.descriptor) }

  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    private static let noSignal = Int32(MSG_NOSIGNAL)
  #elseif canImport(Musl)
    private static let stream = SOCK_STREAM | SOCK_CLOEXEC
    private static let noSignal = MSG_NOSIGNAL
  #else
    private static let stream = SOCK_STREAM
    private static let noSignal = Int32(0)
  #endif
}

/// A failed system call.
package struct SystemCallError: Error, Hashable, CustomStringConvertible {
  let call: String
  /// The `errno`.
  let code: Int32

  package var description: String { "\(self.call): \(String(cString: strerror(self.code)))" }
}
