import Foundation

/// A `sidelight serve` process on a free port of the loopback interface.
struct ServerProcess: Sendable {
  /// A server that did not start.
  struct Failed: Error, CustomStringConvertible {
    var description: String { "The server did not say where it listens." }
  }

  /// The process identifier.
  let identifier: String
  /// The port.
  let port: Int
  /// The path of the Unix socket.
  let socketPath: String

  /// Starts a server, and ends it when `body` returns.
  ///
  /// - Parameter settings: The path of the `sidelight` command, and whether it has a processor to
  ///   itself.
  static func run<Result: Sendable>(
    _ settings: Settings, _ body: (ServerProcess) async throws -> Result
  ) async throws -> Result {
    let process = Process()
    let pin = settings.isPinned ? ["taskset", "-c", "0"] : []
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    let socketPath = FileManager.default.temporaryDirectory
      .appendingPathComponent("realtime-\(getpid()).sock").path
    defer { unlink(socketPath) }
    // The server must not refuse sessions for load, because overload is measured.
    process.arguments =
      pin + [
        settings.server,
        "serve", "--listen", "127.0.0.1:0", "--listen", "unix:\(socketPath)", "--max-load", "0",
        "--max-sessions", "256",
        "--max-sessions-per-caller", "256", "--log-level", "error",
      ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    defer { Self.end(process) }
    var text = ""
    // One line per address.
    while text.count(where: \.isNewline) < 2 {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw Failed() }
      text += String(decoding: data, as: UTF8.self)
    }
    let ports = text.split(whereSeparator: \.isNewline)
      .compactMap { $0.split(separator: ":").last.flatMap { Int($0) } }
    guard let port = ports.first else { throw Failed() }
    return try await body(
      ServerProcess(
        identifier: String(process.processIdentifier), port: port, socketPath: socketPath))
  }

  private static func end(_ process: Process) {
    process.terminate()
    for _ in 0 ..< 150 where process.isRunning { usleep(100_000) }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}
