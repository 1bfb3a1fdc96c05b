import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SwiftProtobuf

/// A collector that receives spans over gRPC.
struct OTLPCollector: Sendable {
  typealias Transport = HTTP2ClientTransport.Posix

  private let configuration: OTLPConfiguration
  private let client: GRPCClient<Transport>
  private let metadata: Metadata
  private let resource: Opentelemetry_Proto_Resource_V1_Resource

  /// - Throws: `RuntimeError` if the certificates cannot be read.
  init(_ configuration: OTLPConfiguration) throws {
    self.configuration = configuration
    self.client = GRPCClient(transport: try Self.transport(configuration))
    self.metadata = Metadata(
      configuration.headers.map { (key: $0.name, value: Metadata.Value.string($0.value)) })
    self.resource = .with {
      $0.attributes = [Opentelemetry_Proto_Common_V1_KeyValue](configuration.resource)
    }
  }

  /// Runs the connection until ``close()``, and returns when all requests have ended.
  func runConnection() async throws { try await self.client.runConnections() }

  /// Closes the connection gracefully.
  func close() { self.client.beginGracefulShutdown() }

  /// Sends spans, and retries if the status allows it.
  ///
  /// - Returns: The number of spans that the collector rejected.
  /// - Throws: `RPCError` if the collector received none of them.
  func send(_ spans: [FinishedSpan]) async throws -> Int {
    let request = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest.with {
      $0.resourceSpans = [
        .with {
          $0.resource = self.resource
          $0.schemaURL = Self.schema
          $0.scopeSpans = [
            .with {
              $0.scope.name = "sidelight"
              $0.schemaURL = Self.schema
              $0.spans = spans.map(Opentelemetry_Proto_Trace_V1_Span.init)
            }
          ]
        }
      ]
    }
    let stub = Opentelemetry_Proto_Collector_Trace_V1_TraceService.Client(wrapping: self.client)
    let response = try await stub.export(
      request, metadata: self.metadata, options: self.options)
    return Int(clamping: response.partialSuccess.rejectedSpans)
  }

  /// The version of the semantic conventions for attributes.
  private static let schema = "https://opentelemetry.io/schemas/1.44.0"

  private var options: CallOptions {
    var options = CallOptions.defaults
    options.timeout = self.configuration.timeout
    options.executionPolicy = .retry(
      RetryPolicy(
        maxAttempts: 5, initialBackoff: .milliseconds(500), maxBackoff: .seconds(5),
        backoffMultiplier: 2,
        retryableStatusCodes: [
          .cancelled, .deadlineExceeded, .aborted, .outOfRange, .unavailable, .dataLoss,
        ]))
    return options
  }

  private static func transport(_ configuration: OTLPConfiguration) throws -> Transport {
    let security: HTTP2ClientTransport.Posix.TransportSecurity =
      !configuration.endpoint.isSecure
      ? .plaintext
      : .tls { tls in
        if let file = configuration.certificateFile {
          tls.trustRoots = .certificates([.file(path: file, format: .pem)])
        }
      }
    switch configuration.endpoint.target {
    case .tcp(let host, let port):
      return try HTTP2ClientTransport.Posix(
        target: .dns(host: host, port: port), transportSecurity: security)
    case .unix(let path):
      return try HTTP2ClientTransport.Posix(
        target: .unixDomainSocket(path: path), transportSecurity: security)
    }
  }
}
