import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import SidelightKernels
import SidelightWire
import SwiftProtobuf

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
