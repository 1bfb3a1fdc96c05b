import Foundation
import Logging
import ServiceLifecycle
import SidelightFilterProcesses
import SidelightKernelLanguage
import SidelightServer
import UnixSignals

/// A filter with an empty body, in a server and in processes of the same program:
///
///     empty-filter SOCKET       a server with `empty`, and `i420` and `bgra8` of processes
///     empty-filter FORMAT       the process with the filter of that name
@main
struct EmptyFilter {
  static func main() async throws {
    guard let argument = CommandLine.arguments.dropFirst().first else {
      FileHandle.standardError.write(Data("usage: empty-filter SOCKET\n".utf8))
      exit(64)
    }
    var catalogue = FilterCatalogue.builtIn
    if let format = PixelFormat(rawValue: argument) {
      catalogue.register(Self.filter(argument))
      return try await FilterProcessServer(catalogue, filters: [argument], format: format).run()
    }
    catalogue.register(Self.filter("empty"))
    var configuration = ServerConfiguration()
    configuration.addresses = [.unix(path: argument)]
    configuration.sharedMemory = SharedMemoryConfiguration()
    let logger = Logger(label: "empty-filter") { StreamLogHandler.standardError(label: $0) }
    let program = CommandLine.arguments[0]
    let commands = [PixelFormat.i420, .bgra8].map { "'\(program)' \($0.rawValue)" }
    try await FilterProcessHost.with(commands, logger: logger) { processes in
      try await processes.register(in: &catalogue)
      let server = SidelightServer(
        configuration: configuration, catalogue: catalogue, logger: logger)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await ServiceGroup(
            services: [server], gracefulShutdownSignals: [.sigterm], logger: logger
          ).run()
        }
        _ = try await server.listeningAddresses
        FileHandle.standardOutput.write(Data("listening\n".utf8))
        try await group.waitForAll()
      }
    }
  }

  private static func filter(_ name: String) -> CustomFilter {
    CustomFilter(name, "Changes nothing.", frame: { _, _, _ in })
  }
}
