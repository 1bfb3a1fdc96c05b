import ArgumentParser
import Logging
import Metrics
import SidelightConfiguration
import SidelightServer
import SidelightSupervisor

extension Serve {
  /// The help texts of the workers' metrics, by name.
  static let workerMetrics = [
    Worker.startsName: "Number of starts of this worker's process, including the current one."
  ]

  /// Runs and supervises worker processes until they have drained.
  ///
  /// - Throws: `ExitCode` of a worker that failed to start or to drain.
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

  /// Returns the server configuration of a worker, with the sockets of its supervisor.
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
  /// Returns the configuration adapted to a worker, if this process is one.
  func fitted(to worker: Worker?) -> ServeConfiguration {
    guard let worker else { return self }
    return self.forWorker(worker.index, of: worker.count, resumeKey: worker.resumeKey)
  }
}

extension Worker {
  fileprivate static let startsName = "sidelight_worker_starts"

  /// Records how often this worker has been started.
  func reportStarts(to metrics: any MetricsFactory) {
    Gauge(
      label: Self.startsName, dimensions: [("worker", "\(self.index)")], factory: metrics
    ).record(self.starts)
  }
}

extension Logger {
  /// Adds the number of the worker, if any, to every log entry.
  func naming(_ worker: Worker?) -> Logger {
    guard let worker else { return self }
    var logger = self
    logger[metadataKey: "worker"] = "\(worker.index)"
    return logger
  }
}
