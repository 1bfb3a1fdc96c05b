import Logging
import ServiceLifecycle
import SidelightFilterProcesses
import SidelightServer
import SidelightVision

/// A server whose filters for faces follow a magenta marker, and which adds a matte:
///
///     CustomVision [ADDRESS]     default: 127.0.0.1:50051
///
/// It works without OpenCV. Pipelines name the matte: `backgroundBlur(matte: dark)`. The same program
/// serves both to another server, in a process of its own:
///
///     sidelight serve --filter-process CustomVision
@main
struct CustomVision {
  static func main() async throws {
    let process = FilterProcessServer(
      .builtIn, filters: [], mattes: ["dark": { DarkMatte() }],
      faceFinder: ("marker", { MarkerFinder() }))
    guard !process.hasHost else { return try await process.run() }

    var configuration = ServerConfiguration()
    if let address = CommandLine.arguments.dropFirst().first {
      configuration.addresses = [try Address(address)]
    }

    var vision = VisionConfiguration()
    vision.faceFinder = { MarkerFinder() }
    vision.mattes["dark"] = { DarkMatte() }
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerVision(vision)

    let server = SidelightServer(configuration: configuration, catalogue: catalogue)
    try await ServiceGroup(
      services: [server], gracefulShutdownSignals: [.sigterm, .sigint],
      logger: Logger(label: "custom-vision")
    ).run()
  }
}
