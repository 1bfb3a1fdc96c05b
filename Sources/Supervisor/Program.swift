import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A program to be started, with some of this one's descriptors.
struct Program: Sendable {
  /// The file.
  let path: String
  let arguments: [String]
  let environment: [String: String]

  /// This very program, with what it was started with. On Linux also when its file has been replaced.
  ///
  /// Swift's runtime takes seconds to print the backtrace of a trap, during which nobody else serves in that
  /// worker's place: it does so only if the environment asks for it.
  static var current: Program {
    #if os(Linux)
      let path = "/proc/self/exe"
    #else
      let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
    #endif
    return Program(
      path: path, arguments: CommandLine.arguments,
      environment: ["SWIFT_BACKTRACE": "enable=no"]
        .merging(ProcessInfo.processInfo.environment) { _, own in own })
  }

  /// Starts the program. Signals have their usual meaning in it, whatever this one made of them.
  ///
  /// - Parameters:
  ///   - environment: Added to the program's own.
  ///   - descriptors: What it gets, under the same numbers, beside standard input, output and error. All
  ///     others of this program must be closed on `exec`.
  /// - Returns: The process.
  /// - Throws: ``SystemFailure``.
  func start(
    adding environment: [String: String], descriptors: [Int32]
  ) throws(SystemFailure) -> pid_t {
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
    // Onto itself: that takes away that it is closed on `exec`.
    for each in descriptors { posix_spawn_file_actions_adddup2(&actions, each, each) }

    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var usual = sigset_t()
    sigemptyset(&usual)
    // A signal that is ignored, because another mechanism tells of it, stays so across `exec`.
    for each in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { sigaddset(&usual, each) }
    posix_spawnattr_setsigdefault(&attributes, &usual)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let variables = self.environment.merging(environment) { _, added in added }
      .map { "\($0.key)=\($0.value)" }
    var process: pid_t = 0
    let code = withCStrings(self.arguments) { arguments in
      withCStrings(variables) { variables in
        posix_spawn(&process, self.path, &actions, &attributes, arguments, variables)
      }
    }
    guard code == 0 else { throw SystemFailure(call: "posix_spawn", code: code) }
    return process
  }
}

/// Lends texts as C wants arguments: pointers, and a null behind them.
private func withCStrings<Result>(
  _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let copies = texts.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies + [nil])
}
