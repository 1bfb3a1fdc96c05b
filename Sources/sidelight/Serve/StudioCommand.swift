import ArgumentParser
import Foundation

/// `sidelight studio`: runs a server for this user, with the studio's page on loopback.
struct StudioCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "studio",
    abstract: "Filter the camera in a web page.",
    usage: "sidelight studio [--port <port>] [<setting> ...]",
    discussion: """
      Starts a server on this machine, and prints the URL of a page that filters
      the camera, a video file or a still. It needs no network.

        --port <port>   Port of the page. (default: chosen by the system)

      All settings of 'sidelight serve' apply. Unless they are set, the server
      listens for gRPC at a Unix socket that only this user can reach, and logs
      warnings and errors only.
      Open the URL once; the server then prints another one.
      """)

  @Argument(parsing: .captureForPassthrough, help: .hidden)
  var arguments: [String] = []

  /// Returns the command that serves.
  ///
  /// - Throws: `CleanExit` for help, `ValidationError` for an invalid port.
  func serve() throws -> Serve {
    if self.arguments.contains("--help") || self.arguments.contains("-h") {
      throw CleanExit.helpRequest(Self.self)
    }
    var settings: [String] = []
    var port: String?
    var rest = self.arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--port" {
        port = rest.popFirst() ?? ""
      } else if argument.hasPrefix("--port=") {
        port = String(argument.dropFirst("--port=".count))
      } else {
        settings.append(argument)
      }
    }
    if let port {
      guard let number = UInt16(port) else {
        throw ValidationError("--port is '\(port)'; the range is 0 to 65535")
      }
      // The last value counts, which allows '--studio' to override it.
      settings = ["--studio", "127.0.0.1:\(number)"] + settings
    }
    var serve = try Serve.parse(settings)
    let folder = PrivateFolder()
    serve.socketFolder = folder
    serve.defaults = [
      "listen": ["unix:\(folder.socket)"], "studio.listen": ["127.0.0.1:0"],
      "log.level": ["warning"],
    ]
    return serve
  }

  func run() async throws { try await self.serve().run() }
}

/// A folder for a Unix socket, which only this user can enter.
struct PrivateFolder: Sendable {
  /// The longest parent that leaves enough of a socket's path, which has at most 103 bytes.
  private static let maxParentBytes = 48

  /// The path, which is unique to this process.
  let path: String

  /// Chooses the path; ``make()`` creates the folder.
  init() {
    // The runtime folder is the user's own, and in memory; but not every user has one.
    let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? ""
    let isUsable =
      runtime.hasPrefix("/") && runtime.utf8.count <= Self.maxParentBytes
      && access(runtime, W_OK | X_OK) == 0
    let name = String(UInt64.random(in: 0 ... .max), radix: 16)
    self.path = "\(isUsable ? runtime : "/tmp")/sidelight-studio-\(name)"
  }

  var socket: String { "\(self.path)/grpc.sock" }

  /// Creates the folder.
  ///
  /// - Throws: `ValidationError` if it cannot be created, or already exists.
  func make() throws {
    guard mkdir(self.path, 0o700) == 0 else {
      throw ValidationError(
        "the folder \(self.path) cannot be made: \(String(cString: strerror(errno)))")
    }
  }

  /// Removes the folder, if it is empty.
  func remove() { rmdir(self.path) }
}
