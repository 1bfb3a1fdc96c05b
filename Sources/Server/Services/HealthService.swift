import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// `grpc.health.v1.Health`, as gRPC's clients and Kubernetes' probes ask for it.
struct HealthService: Grpc_Health_V1_Health.SimpleServiceProtocol {
  typealias Status = Grpc_Health_V1_HealthCheckResponse.ServingStatus

  let statuses: HealthStatusStore

  func check(
    request: Grpc_Health_V1_HealthCheckRequest, context: ServerContext
  ) async throws -> Grpc_Health_V1_HealthCheckResponse {
    let status = self.status(of: request.service)
    guard status != .serviceUnknown else {
      throw FieldFault(
        code: .notFound, field: "service",
        reason: "there is no service '\(request.service.clipped(toBytes: 64))'")
    }
    return .with { $0.status = status }
  }

  func list(
    request: Grpc_Health_V1_HealthListRequest, context: ServerContext
  ) async throws -> Grpc_Health_V1_HealthListResponse {
    .with { response in
      for service in self.statuses.services {
        response.statuses[service] = .with { $0.status = self.status(of: service) }
      }
    }
  }

  /// Tells the status now and on each change. Ends with UNAVAILABLE when the server shuts down, after
  /// it has told so, and with the call.
  func watch(
    request: Grpc_Health_V1_HealthCheckRequest,
    response: RPCWriter<Grpc_Health_V1_HealthCheckResponse>, context: ServerContext
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      // A caller that goes ends no handler by itself; nor does a shutdown, which this waits for too.
      group.addTask { try? await context.cancellation.cancelled }
      group.addTask { try await self.send(request.service, response) }
      _ = try await group.next()
      group.cancelAll()
    }
    if !self.statuses.isServing {
      // The shutdown may have been first.
      try await response.write(.with { $0.status = self.status(of: request.service) })
      throw GoogleRPCStatus.shuttingDown
    }
  }

  private func send(
    _ service: String, _ response: RPCWriter<Grpc_Health_V1_HealthCheckResponse>
  ) async throws {
    try await self.statuses.withChanges { changes in
      var told = self.status(of: service)
      try await response.write(.with { $0.status = told })
      for await _ in changes {
        let status = self.status(of: service)
        guard status != .notServing else { return }
        if status != told { try await response.write(.with { $0.status = status }) }
        told = status
      }
    }
  }

  private func status(of service: String) -> Status {
    guard self.statuses.services.contains(service) else { return .serviceUnknown }
    return self.statuses.isServing ? .serving : .notServing
  }
}

/// How each service does, for whoever asks and whoever watches.
///
/// A service serves from the moment its server does until it begins to shut down, and never again
/// after that.
final class HealthStatusStore: Sendable {
  private struct State {
    var isServing = true
    var nextWatcher = 0
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  /// The services, by full name; `""` is the server as a whole.
  let services: Set<String>
  private let state = Mutex(State())

  init(services: [String]) {
    self.services = Set(services).union([""])
  }

  /// Whether the services serve.
  var isServing: Bool { self.state.withLock { $0.isServing } }

  /// No service serves any more; whoever watches is told. A second call does nothing.
  func stopServing() {
    let watchers = self.state.withLock { state in
      state.isServing = false
      return state.watchers.values
    }
    for watcher in watchers { watcher.yield() }
  }

  /// Calls `body` with a stream that ticks on each change.
  func withChanges<Result>(
    _ body: (AsyncStream<Void>) async throws -> Result
  ) async rethrows -> Result {
    // One tick that waits is as good as many: whoever takes it looks at what is now.
    let (changes, continuation) = AsyncStream<Void>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    let number = self.state.withLock { state in
      defer { state.nextWatcher += 1 }
      state.watchers[state.nextWatcher] = continuation
      return state.nextWatcher
    }
    defer { self.state.withLock { _ = $0.watchers.removeValue(forKey: number) } }
    return try await body(changes)
  }
}
