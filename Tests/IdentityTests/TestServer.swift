import GRPCCore
import GRPCProtobuf
import SidelightIdentity
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf

/// Runs a server that requires tokens, using these tests' clock, and a generated client.
func withServer<Result: Sendable>(
  _ authenticator: any Authenticator, _ body: @Sendable (Stub) async throws -> Result
) async throws -> Result {
  var clock = SessionClock.system
  clock.nanosecondsSince1970 = { UInt64(Token.now) * 1_000_000_000 }
  return try await withServer(authenticator: authenticator, clock: clock) { _, address in
    try await withStub(address, body)
  }
}

extension Stub {
  /// Calls the server using a token. Returns the code and reason of the error, if any.
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
