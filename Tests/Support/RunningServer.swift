import ServiceLifecycleTestKit
import SidelightKernelLanguage
import SidelightKernels
package import SidelightServer
import SidelightWire
import Synchronization
import Tracing

/// A real server that a test starts, kills and shuts down.
package final class RunningServer: Sendable {
  /// The server.
  package let server: SidelightServer
  private let shutdown = Mutex<GracefulShutdownTestTrigger?>(nil)
  private let stop = AsyncStream<Never>.makeStream()
  private let stopped = AsyncStream<Never>.makeStream()

  /// Creates a server that listens on one address, and does not start it.
  package init(
    _ configuration: ServerConfiguration = ServerConfiguration(),
    catalogue: FilterCatalogue = .builtIn, clock: SessionClock = .system,
    listeningOn address: Address = .tcp(host: "127.0.0.1", port: 0)
  ) {
    var configuration = configuration
    configuration.addresses = [address]
    self.server = SidelightServer(
      configuration: configuration, catalogue: catalogue, tracer: NoOpTracer(), clock: clock,
      logger: .silent)
  }

  /// The address that it listens on. Waits until it listens.
  package var address: Address {
    get async throws { try await self.server.listeningAddresses[0] }
  }

  /// Runs the server, and returns after `kill()` or when `drain()` has finished.
  package func run() async {
    await testGracefulShutdown { trigger in
      self.shutdown.withLock { $0 = trigger }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { try? await self.server.run() }
        group.addTask { for await _ in self.stop.stream {} }
        await group.next()
        group.cancelAll()
      }
    }
    self.stopped.continuation.finish()
  }

  /// Cuts all connections, and returns when the server no longer listens.
  package func kill() async {
    self.stop.continuation.finish()
    for await _ in self.stopped.stream {}
  }

  /// Begins a graceful shutdown, as SIGTERM does.
  package func drain() {
    self.shutdown.withLock { $0 }?.triggerGracefulShutdown()
  }
}
