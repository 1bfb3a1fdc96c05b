import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SwiftProtobuf
import Tracing

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
  /// - Throws: `RPCError` if the collector didn't receive the spans.
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

extension Opentelemetry_Proto_Trace_V1_Span {
  fileprivate init(_ span: FinishedSpan) {
    self.init()
    self.traceID = span.context.traceID.bytes
    self.spanID = span.context.spanID.bytes
    self.traceState = span.context.state
    self.name = span.name
    self.startTimeUnixNano = span.start
    self.endTimeUnixNano = span.end
    self.flags = UInt32(span.context.flags)
    if let parent = span.parent {
      self.parentSpanID = parent.spanID.bytes
      self.flags |= Self.remoteness(parent)
    }
    self.kind =
      switch span.kind {
      case .server: .server
      case .client: .client
      case .producer: .producer
      case .consumer: .consumer
      case .internal: .internal
      }
    self.attributes = [Opentelemetry_Proto_Common_V1_KeyValue](span.attributes)
    self.events = span.events.map { event in
      .with {
        $0.name = event.name
        $0.timeUnixNano = event.nanosecondsSinceEpoch
        $0.attributes = [Opentelemetry_Proto_Common_V1_KeyValue](event.attributes)
      }
    }
    self.droppedEventsCount = UInt32(clamping: span.droppedCounts.events)
    self.links = span.links.compactMap(Link.init)
    self.droppedLinksCount = UInt32(clamping: span.droppedCounts.links)
    if let status = span.status {
      self.status.code = status.code == .ok ? .ok : .error
      self.status.message = status.message ?? ""
    }
  }

  /// Returns the flags of a context: bit 8 if bit 9 is known, bit 9 if it came from another
  /// process.
  fileprivate static func remoteness(_ context: SpanContext) -> UInt32 {
    context.isRemote ? 0x300 : 0x100
  }
}

extension Opentelemetry_Proto_Trace_V1_Span.Link {
  fileprivate init?(_ link: SpanLink) {
    guard let context = link.context.spanContext else { return nil }
    self.init()
    self.traceID = context.traceID.bytes
    self.spanID = context.spanID.bytes
    self.traceState = context.state
    self.flags =
      UInt32(context.flags) | Opentelemetry_Proto_Trace_V1_Span.remoteness(context)
    self.attributes = [Opentelemetry_Proto_Common_V1_KeyValue](link.attributes)
  }
}

extension [Opentelemetry_Proto_Common_V1_KeyValue] {
  fileprivate init(_ attributes: SpanAttributes) {
    self = []
    attributes.forEach { key, value in
      self.append(
        .with {
          $0.key = key
          $0.value = Opentelemetry_Proto_Common_V1_AnyValue(value)
        })
    }
  }

  /// Creates the attributes of a resource, sorted by key.
  fileprivate init(_ attributes: [String: String]) {
    self = attributes.sorted { $0.key < $1.key }.map { key, value in
      .with {
        $0.key = key
        $0.value.stringValue = value
      }
    }
  }
}

extension Opentelemetry_Proto_Common_V1_AnyValue {
  fileprivate init(_ attribute: SpanAttribute) {
    self.init()
    switch attribute {
    case .int32(let value): self.intValue = Int64(value)
    case .int64(let value): self.intValue = value
    case .double(let value): self.doubleValue = value
    case .bool(let value): self.boolValue = value
    case .string(let value): self.stringValue = value
    case .stringConvertible(let value): self.stringValue = "\(value)"
    case .int32Array(let values): self.set(values.map { .int64(Int64($0)) })
    case .int64Array(let values): self.set(values.map { .int64($0) })
    case .doubleArray(let values): self.set(values.map { .double($0) })
    case .boolArray(let values): self.set(values.map { .bool($0) })
    case .stringArray(let values): self.set(values.map { .string($0) })
    case .stringConvertibleArray(let values): self.set(values.map { .string("\($0)") })
    default: break
    }
  }

  private mutating func set(_ values: [SpanAttribute]) {
    self.arrayValue.values = values.map(Self.init)
  }
}

extension TraceID {
  fileprivate var bytes: Data { self.high.bigEndianBytes + self.low.bigEndianBytes }
}

extension SpanID {
  fileprivate var bytes: Data { self.bits.bigEndianBytes }
}

extension UInt64 {
  fileprivate var bigEndianBytes: Data {
    Data((0 ..< 8).map { UInt8(truncatingIfNeeded: self >> UInt64(56 - 8 * $0)) })
  }
}
