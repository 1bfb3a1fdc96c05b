package import SidelightWire
import Tracing

/// Reads W3C trace context from a frame.
package struct TraceContextExtractor: Extractor {
  package init() {}

  /// - Returns: `nil` for a field that is empty, or longer than W3C requires anyone to carry.
  package func extract(key: String, from carrier: Sidelight_V1_TraceContext) -> String? {
    switch key {
    case "traceparent": Self.bounded(carrier.traceparent)
    case "tracestate": Self.bounded(carrier.tracestate)
    default: nil
    }
  }

  private static func bounded(_ text: String) -> String? {
    text.isEmpty || text.utf8.count > ContractLimits.maxTraceContextBytes ? nil : text
  }
}
