import Logging
import ServiceLifecycle
import SidelightServer

/// A server with filters of its own, one of each kind:
///
///     CustomFilters [ADDRESS]     default 127.0.0.1:50051
///
/// Clients find them in `ListFilters` and name them in pipelines like the built-in ones.
@main
struct CustomFilters {
  static func main() async throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("scanlines", "Darkens every other row.", color: Scanlines()))
    catalogue.register(CustomFilter("emboss", "Shows slopes.", neighborhood: Emboss()))
    catalogue.register(CustomFilter("upsideDown", "Turns the picture over.", frame: upsideDown))
    catalogue.register(CustomFilter("meanLuma", "Measures.", analysis: MeanLuma()))
    catalogue.register(Tint.self)

    var configuration = ServerConfiguration()
    if let address = CommandLine.arguments.dropFirst().first {
      configuration.addresses = [try Address(address)]
    }
    let server = SidelightServer(configuration: configuration, catalogue: catalogue)
    try await ServiceGroup(
      services: [server], gracefulShutdownSignals: [.sigterm, .sigint],
      logger: Logger(label: "custom-filters")
    ).run()
  }
}
