import ArgumentParser
import Logging
import Metrics
import SidelightConfiguration
import SidelightServer
import SidelightSupervisor

extension Serve {
  /// What the metric of workers means, by name.
  static let workerMetrics = [
    Worker.startsName: "How often this worker's process has been started, with this time."
  ]

  /// Has workers serve, and sees to them until they have drained.
  ///
  /// - Throws: `ExitCode` with that of a worker that did not come to serve, or did not drain well.
  static func supervise(_ configuration: ServeConfiguration) async throws {
    let server = configuration.server
    var supervisor = Supervisor(
      workers: configuration.workers, addresses: server.addresses,
      logger: Logger(label: "sidelight") { [level = configuration.logLevel] label in
        var handler = LineLogHandler.standardError(label: label, format: configuration.logFormat)
        handler.logLevel = level
        return handler
      })
    supervisor.unixSocketPermissions = server.unixSocketPermissions
    supervisor.shutdownGrace = configuration.shutdownGrace
    do {
      try await supervisor.run { addresses in
        for address in addresses {
          FileDescriptorOutput.standardOutput.write("listening on \(address)\n")
        }
      }
    } catch let failure as WorkerFailure {
      throw ExitCode(failure.end.exitCode)
    }
  }

  /// The server of a worker, fitted to what its supervisor holds.
  static func server(
    _ configuration: ServeConfiguration, _ worker: Worker?
  ) -> ServerConfiguration {
    var server = configuration.server
    guard let worker else { return server }
    server.addresses = worker.addresses
    server.listeningDescriptors = worker.descriptors
    return server
  }
}

extension ServeConfiguration {
  /// What it comes to in a worker, if this is one.
  func fitted(to worker: Worker?) -> ServeConfiguration {
    guard let worker else { return self }
    return self.forWorker(worker.index, of: worker.count, resumeKey: worker.resumeKey)
  }
}

extension Worker {
  fileprivate static let startsName = "sidelight_worker_starts"

  /// Tells how often this worker has been started.
  func tellStarts(to metrics: any MetricsFactory) {
    Gauge(
      label: Self.startsName, dimensions: [("worker", "\(self.index)")], factory: metrics
    ).record(self.starts)
  }
}

extension Logger {
  /// Has every line tell which worker says it, if one does.
  func naming(_ worker: Worker?) -> Logger {
    guard let worker else { return self }
    var logger = self
    logger[metadataKey: "worker"] = "\(worker.index)"
    return logger
  }
}
