import SidelightKernels
import SidelightWire
import Tracing

/// Starts the span of each frame, as a child of the frame's own trace context. A call lasts an hour
/// and RPC metadata gives one parent for all of it, so each frame brings its own.
struct FrameTracing: Sendable {
  /// `nil` where nobody traces; spans then cost nothing.
  let tracer: (any Tracer)?

  /// A frame arrives.
  func startFrame(_ frame: Sidelight_V1_Frame, session: String) -> FrameSpan {
    guard let tracer else { return FrameSpan(span: nil, tracer: nil) }
    var context = ServiceContext.current ?? .topLevel
    if frame.hasTrace {
      tracer.extract(frame.trace, into: &context, using: TraceContextExtractor())
    }
    let span: any Span = tracer.startSpan("sidelight.frame", context: context, ofKind: .server)
    span.attributes["sidelight.session"] = session
    span.attributes["sidelight.sequence"] = Int64(clamping: frame.sequence)
    return FrameSpan(span: span, tracer: tracer)
  }
}

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
