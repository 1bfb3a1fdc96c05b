import SidelightWire
import Tracing

/// Writes W3C trace context into a frame.
struct TraceContextInjector: Injector {
  func inject(_ value: String, forKey key: String, into carrier: inout Sidelight_V1_TraceContext) {
    switch key {
    case "traceparent": carrier.traceparent = value
    case "tracestate": carrier.tracestate = value
    default: break
    }
  }
}
