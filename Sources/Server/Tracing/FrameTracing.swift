package import GRPCCore
package import SidelightWire
package import Tracing

/// Starts the span of each frame, as a child of the frame's own trace context. A call lasts an hour
/// and RPC metadata gives one parent for all of it, so each frame brings its own.
package struct FrameTracing: Sendable {
  /// `nil` makes no spans at all; a server has the one of `InstrumentationSystem` unless told otherwise.
  package let tracer: (any Tracer)?
  private let metrics: ServerMetrics
  private let clock: SessionClock

  package init(tracer: (any Tracer)?, metrics: ServerMetrics, clock: SessionClock) {
    self.tracer = tracer
    self.metrics = metrics
    self.clock = clock
  }

  /// The trace context that a call brings: the parent of frames that bring none. The call's own span
  /// is no parent: its trace would grow for as long as the call lasts, and be sampled as a whole.
  package func context(of metadata: Metadata) -> ServiceContext {
    var context = ServiceContext.topLevel
    self.tracer?.extract(metadata, into: &context, using: MetadataExtractor())
    return context
  }

  /// Opens a span for each pass over a still, as a child of the call's.
  var passObserver: FramePassObserver {
    FramePassObserver(
      tracer: self.tracer, context: ServiceContext.current, metrics: self.metrics, clock: self.clock
    )
  }

  /// A frame arrives.
  func startFrame(
    _ frame: Sidelight_V1_Frame, byteCount: Int, in session: Session
  ) -> FrameSpan {
    self.startFrame(
      frame, byteCount: byteCount, session: session.handle.id, callContext: session.callContext)
  }

  /// A frame arrives.
  package func startFrame(
    _ frame: Sidelight_V1_Frame, byteCount: Int, session: String, callContext: ServiceContext
  ) -> FrameSpan {
    let span = self.span(
      of: frame, byteCount: byteCount, session: session, callContext: callContext)
    return FrameSpan(span: span, tracer: self.tracer, metrics: self.metrics, clock: self.clock)
  }

  private func span(
    of frame: Sidelight_V1_Frame, byteCount: Int, session: String, callContext: ServiceContext
  ) -> (any Span)? {
    guard let tracer else { return nil }
    var context = callContext
    if frame.hasTrace {
      tracer.extract(frame.trace, into: &context, using: TraceContextExtractor())
    }
    let span: any Span = tracer.startSpan("sidelight.frame", context: context, ofKind: .server)
    guard span.isRecording else { return span }
    span.attributes = [
      "sidelight.session": .string(session),
      "sidelight.sequence": .int64(Int64(clamping: frame.sequence)),
      "sidelight.bytes": .int64(Int64(byteCount)),
    ]
    return span
  }
}
