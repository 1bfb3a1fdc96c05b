import Logging
import ServiceLifecycle
import SidelightFilterProcesses
import SidelightServer
import SidelightSupervisor
import SidelightText

/// A server with custom filters, one of every kind:
///
///     CustomFilters [ADDRESS [WORKERS]]     default: 127.0.0.1:50051, and no worker processes
///
/// `ListFilters` lists them, and clients name them in pipelines like built-in filters. The same
/// program serves some of them to another server, in a process of its own:
///
///     sidelight serve --filter-process CustomFilters
@main
struct CustomFilters {
  static func main() async throws {
    let worker = try Worker.inherited()
    let arguments = CommandLine.arguments.dropFirst()
    var configuration = ServerConfiguration()
    if let address = arguments.first {
      configuration.addresses = [try Address(address)]
    }
    if worker == nil, let workers = arguments.dropFirst().first.flatMap({ Int($0) }), workers > 0 {
      return try await Supervisor(workers: workers, addresses: configuration.addresses).run()
    }

    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("scanlines", "Darkens every other row.", color: Scanlines()))
    catalogue.register(CustomFilter("emboss", "Shows slopes.", neighborhood: Emboss()))
    catalogue.register(CustomFilter("upsideDown", "Turns the picture over.", frame: upsideDown))
    catalogue.register(CustomFilter("meanLuma", "Measures.", analysis: MeanLuma()))
    catalogue.register(Tint.self)
    catalogue.registerText()
    catalogue.register(CustomFilter("brittle", "Traps at small frames.", frame: brittle))
    catalogue.register(Slow.self)

    let process = FilterProcessServer(catalogue, filters: ["emboss", "upsideDown", "brittle"])
    guard !process.hasHost else { return try await process.run() }

    worker?.adapt(&configuration)
    let server = SidelightServer(configuration: configuration, catalogue: catalogue)
    var services: [any Service] = [server]
    if let worker { services.append(WorkerLink(worker, server: server)) }
    try await ServiceGroup(
      services: services, gracefulShutdownSignals: [.sigterm, .sigint],
      logger: Logger(label: "custom-filters")
    ).run()
  }
}
