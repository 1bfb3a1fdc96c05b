import AsyncAlgorithms
import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// `grpc.health.v1.Health`, for gRPC clients and Kubernetes probes.
struct HealthService: Grpc_Health_V1_Health.SimpleServiceProtocol {
  typealias Status = Grpc_Health_V1_HealthCheckResponse.ServingStatus

  let statuses: HealthStatusStore

  func check(
    request: Grpc_Health_V1_HealthCheckRequest, context: ServerContext
  ) async throws -> Grpc_Health_V1_HealthCheckResponse {
    let status = self.status(of: request.service)
    guard status != .serviceUnknown else {
      throw FieldViolation(
        code: .notFound, field: "service",
        reason: "there is no service '\(request.service.clipped(toBytes: 64))'")
    }
    return .with { $0.status = status }
  }

  func list(
    request: Grpc_Health_V1_HealthListRequest, context: ServerContext
  ) async throws -> Grpc_Health_V1_HealthListResponse {
    .with { response in
      // Excludes filters: only callers that may list them see their names.
      for service in self.statuses.services {
        response.statuses[service] = .with { $0.status = self.status(of: service) }
      }
    }
  }

  /// Sends the status now and after every change, until the call ends. When the server shuts down,
  /// sends the final status and ends with UNAVAILABLE.
  func watch(
    request: Grpc_Health_V1_HealthCheckRequest,
    response: RPCWriter<Grpc_Health_V1_HealthCheckResponse>, context: ServerContext
  ) async throws {
    try await context.untilCancelled { try await self.send(request.service, response) }
    if !self.statuses.isServing {
      // The shutdown may have ended the wait before the change was sent.
      try await response.write(.with { $0.status = self.status(of: request.service) })
      throw GoogleRPCStatus.shuttingDown
    }
  }

  private func send(
    _ service: String, _ response: RPCWriter<Grpc_Health_V1_HealthCheckResponse>
  ) async throws {
    try await self.statuses.withChanges { changes in
      let statuses = chain(CollectionOfOne(()).async, changes)
        .map { self.status(of: service) }
        .removeDuplicates()
      for await status in statuses {
        // The caller reports the shutdown.
        guard self.statuses.isServing else { return }
        try await response.write(.with { $0.status = status })
      }
    }
  }

  private func status(of service: String) -> Status {
    guard let isServing = self.statuses.isServing(service) else { return .serviceUnknown }
    return isServing ? .serving : .notServing
  }
}

/// The serving status of the services.
///
/// A service serves from the start of the server until its shutdown begins. Filters of filter
/// processes are services of their own, which do not serve while their process is started again.
final class HealthStatusStore: Sendable {
  private struct State {
    var isServing = true
    /// The filters of processes, with the reason why they do not serve; `nil` for those that do.
    var filterOutages: [String: String?] = [:]
    var nextWatcher = 0
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  /// The full names of the services but filters; `""` is the server as a whole.
  let services: Set<String>
  private let state = Mutex(State())

  /// - Parameter filters: The names of filters of processes, which serve until ``filterOutages``
  ///   states otherwise.
  init(services: [String], filters: [String] = []) {
    self.services = Set(services).union([""])
    self.filterOutages = Dictionary(filters.map { ($0, nil) }) { one, _ in one }
  }

  /// The name of a filter as a service: `sidelight.v1.FrameFilter/sunset`.
  private static func service(_ filter: String) -> String {
    "\(Sidelight_V1_FrameFilter.descriptor.fullyQualifiedService)/\(filter)"
  }

  /// The filters of processes, with the reason why they do not serve at present; `nil` for filters
  /// that do.
  var filterOutages: [String: String?] {
    get { self.state.withLock { $0.filterOutages } }
    set {
      let watchers = self.state.withLock { state in
        state.filterOutages = newValue
        return state.watchers.values
      }
      for watcher in watchers { watcher.yield() }
    }
  }

  /// Whether a service serves; `nil` if no service has that name.
  func isServing(_ service: String) -> Bool? {
    self.state.withLock { state in
      if self.services.contains(service) { return state.isServing }
      let outage = state.filterOutages.first { Self.service($0.key) == service }
      return outage.map { state.isServing && $0.value == nil }
    }
  }

  /// Whether the services serve.
  var isServing: Bool { self.state.withLock { $0.isServing } }

  /// Changes the status of all services to not serving. A second call has no effect.
  func stopServing() {
    let watchers = self.state.withLock { state in
      state.isServing = false
      return state.watchers.values
    }
    for watcher in watchers { watcher.yield() }
  }

  /// Calls `body` with a stream that has one element per change.
  func withChanges<Result>(
    _ body: (AsyncStream<Void>) async throws -> Result
  ) async rethrows -> Result {
    // One pending element is enough: the watcher reads the current status.
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
