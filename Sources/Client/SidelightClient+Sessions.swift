package import GRPCCore
package import SidelightTransport
package import SidelightWire

/// The service for operators, on a connection.
package typealias SessionsServiceClient = Sidelight_V1_Sessions.Client<Dialer.ClientTransport>

extension SidelightClient {
  /// Runs a closure with the service for operators at the first address.
  package func withSessionsService<Result: Sendable>(
    _ body: @Sendable (SessionsServiceClient, CallOptions) async throws -> Result
  ) async throws -> Result {
    let options = self.dialer.callOptions
    return try await self.dialer.withConnection(to: self.addresses[0]) { connection in
      try await body(Sidelight_V1_Sessions.Client(wrapping: connection), options)
    }
  }
}
