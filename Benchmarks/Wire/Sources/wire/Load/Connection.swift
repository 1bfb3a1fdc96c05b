import BenchmarkClient
import Contract
import GRPCCore
import GRPCNIOTransportHTTP2Posix

extension Connection {
  /// The client that the generated code provides.
  var stub: Sidelight_V1_FrameFilter.Client<HTTP2ClientTransport.Posix> {
    Sidelight_V1_FrameFilter.Client(wrapping: self.client)
  }

  /// The names of the optional features of the server.
  func features() async throws -> [String] {
    try await self.stub.getServerInfo(.init(), options: self.callOptions).features
  }
}
