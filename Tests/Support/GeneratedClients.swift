package import GRPCCore
package import GRPCNIOTransportHTTP2Posix
package import SidelightWire

/// A client of generated code only, as in another language.
package typealias Stub = Sidelight_V1_FrameFilter.Client<HTTP2ClientTransport.Posix>

/// A generated client for operators.
package typealias Operators = Sidelight_V1_Sessions.Client<HTTP2ClientTransport.Posix>

/// Connects a generated client for as long as `body` runs.
package func withStub<Result: Sendable>(
  _ address: Address, transport: TransportConfiguration = TransportConfiguration(),
  security: HTTP2ClientTransport.Posix.TransportSecurity? = nil,
  _ body: (Stub) async throws -> Result
) async throws -> Result {
  try await withConnection(address, transport: transport, security: security) { client in
    try await body(Stub(wrapping: client))
  }
}

/// Connects a generated client for operators for as long as `body` runs.
package func withOperators<Result: Sendable>(
  _ address: Address, _ body: (Operators) async throws -> Result
) async throws -> Result {
  try await withConnection(address) { try await body(Operators(wrapping: $0)) }
}

/// Opens a connection for any generated client, for as long as `body` runs.
///
/// - Parameters:
///   - address: The address of the server.
///   - transport: The settings, of which the size of the window is used.
///   - security: The client's TLS. `nil` uses `TestSecurity.current`'s TLS, if any.
///   - body: Receives the connection.
package func withConnection<Result: Sendable>(
  _ address: Address, transport: TransportConfiguration = TransportConfiguration(),
  security: HTTP2ClientTransport.Posix.TransportSecurity? = nil,
  _ body: (GRPCClient<HTTP2ClientTransport.Posix>) async throws -> Result
) async throws -> Result {
  let target: any ResolvableTarget =
    switch address {
    case .tcp("localhost", let port): .dns(host: "localhost", port: port)
    case .tcp(let host, let port) where host.contains(":"): .ipv6(address: host, port: port)
    case .tcp(let host, let port): .ipv4(address: host, port: port)
    case .unix(let path): .unixDomainSocket(path: path)
    }
  return try await withGRPCClient(
    transport: try .http2NIOPosix(
      target: target, transportSecurity: security ?? TestSecurity.current?.client ?? .plaintext,
      config: .defaults { $0.http2.targetWindowSize = transport.streamWindowBytes }),
    handleClient: body)
}
