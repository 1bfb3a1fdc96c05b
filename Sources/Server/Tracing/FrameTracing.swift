import GRPCCore
import SidelightKernels
import SidelightWire
import Tracing

/// Starts the span of each frame, as a child of the frame's own trace context. A call lasts an hour
/// and RPC metadata gives one parent for all of it, so each frame brings its own.
struct FrameTracing: Sendable {
  /// `nil` makes no spans at all; a server has the one of `InstrumentationSystem` unless told otherwise.
  let tracer: (any Tracer)?

  /// The trace context that a call brings: the parent of frames that bring none.
  func context(of metadata: Metadata) -> ServiceContext {
    var context = ServiceContext.current ?? .topLevel
    self.tracer?.extract(metadata, into: &context, using: MetadataExtractor())
    return context
  }

  /// A frame arrives.
  func startFrame(_ frame: Sidelight_V1_Frame, in session: Session) -> FrameSpan {
    guard let tracer else { return FrameSpan(span: nil, tracer: nil) }
    var context = session.callContext
    if frame.hasTrace {
      tracer.extract(frame.trace, into: &context, using: TraceContextExtractor())
    }
    let span: any Span = tracer.startSpan("sidelight.frame", context: context, ofKind: .server)
    span.attributes["sidelight.session"] = session.handle.id
    span.attributes["sidelight.sequence"] = Int64(clamping: frame.sequence)
    return FrameSpan(span: span, tracer: tracer)
  }
}

/// Reads trace context from a call's metadata.
struct MetadataExtractor: Extractor {
  func extract(key: String, from carrier: Metadata) -> String? {
    carrier[stringValues: key].first { _ in true }
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
