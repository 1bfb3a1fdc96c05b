import SidelightWire
import Tracing

/// Reads W3C trace context from a frame.
struct TraceContextExtractor: Extractor {
  func extract(key: String, from carrier: Sidelight_V1_TraceContext) -> String? {
    switch key {
    case "traceparent": carrier.traceparent.isEmpty ? nil : carrier.traceparent
    case "tracestate": carrier.tracestate.isEmpty ? nil : carrier.tracestate
    default: nil
    }
  }
}
