import Logging
import ServiceLifecycle
import SidelightServer

@main
struct MyFilters {
  static func main() async throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(Scanlines.self)

    let server = SidelightServer(catalogue: catalogue)
    try await ServiceGroup(
      services: [server], gracefulShutdownSignals: [.sigterm, .sigint],
      logger: Logger(label: "my-filters")
    ).run()
  }
}
