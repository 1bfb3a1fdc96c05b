import Logging
import ServiceLifecycle
import SidelightServer
import SidelightVision

/// A server whose filters for faces follow a magenta marker, and which adds a matte:
///
///     CustomVision [ADDRESS]     default: 127.0.0.1:50051
///
/// It works without OpenCV. Pipelines name the matte: `backgroundBlur(matte: dark)`.
@main
struct CustomVision {
  static func main() async throws {
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
