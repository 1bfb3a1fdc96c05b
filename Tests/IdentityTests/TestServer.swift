import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import Logging
import SidelightIdentity
import SidelightWire
import SwiftProtobuf
import Tracing

typealias Stub = Sidelight_V1_FrameFilter.Client<HTTP2ClientTransport.Posix>

/// Runs a server that requires tokens, with the clock of these tests, and a generated client.
func withServer<Result: Sendable>(
  _ authenticator: any Authenticator, _ body: @Sendable (Stub) async throws -> Result
) async throws -> Result {
  var configuration = ServerConfiguration()
  configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
  var clock = SessionClock.system
  clock.nanosecondsSince1970 = { UInt64(Token.now) * 1_000_000_000 }
  let server = SidelightServer(
    configuration: configuration, catalogue: .builtIn, authenticator: authenticator,
    tracer: NoOpTracer(), metrics: nil, clock: clock, logger: .silent)
  return try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try? await server.run() }
    defer { group.cancelAll() }
    guard case .tcp(let host, let port) = try await server.listeningAddresses[0] else {
      fatalError("only TCP")
    }
    return try await withGRPCClient(
      transport: try .http2NIOPosix(
        target: .ipv4(address: host, port: port), transportSecurity: .plaintext)
    ) { try await body(Stub(wrapping: $0)) }
  }
}

extension Sidelight_V1_FrameFilter.Client<HTTP2ClientTransport.Posix> {
  /// Calls the server with a token. Returns the code and reason of the error, if any.
  func refusal(_ token: String) async throws -> (code: RPCError.Code, reason: String?)? {
    do {
      _ = try await self.checkPipeline(
        .with { $0.text = "sepiaTone" }, metadata: ["authorization": "Bearer \(token)"])
      return nil
    } catch let error as RPCError {
      let info = try error.unpackGoogleRPCStatus()?.details.compactMap(\.errorInfo).first
      return (error.code, info?.reason)
    }
  }
}

extension Logger {
  static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
