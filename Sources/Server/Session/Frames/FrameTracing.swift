package import GRPCCore
import GRPCProtobuf
package import SidelightKernels
package import SidelightWire
import Synchronization
package import Tracing

/// Starts a span per frame, as a child of the frame's own trace context. A call can last for hours,
/// and its metadata has only one parent, so every frame has a separate context.
package struct FrameTracing: Sendable {
  /// The tracer. `nil` disables spans.
  package let tracer: (any Tracer)?
  private let metrics: ServerMetrics
  private let clock: SessionClock

  package init(tracer: (any Tracer)?, metrics: ServerMetrics, clock: SessionClock) {
    self.tracer = tracer
    self.metrics = metrics
    self.clock = clock
  }

  /// Returns the trace context of a call's metadata: the parent of frames without a context. The
  /// call's own span isn't used as a parent, because its trace would grow during the whole call,
  /// and be sampled as a whole.
  package func context(of metadata: Metadata) -> ServiceContext {
    var context = ServiceContext.topLevel
    self.tracer?.extract(metadata, into: &context, using: MetadataExtractor())
    return context
  }

  /// The observer that starts a span per pass over a still image, as a child of the call's span.
  var passObserver: FramePassObserver {
    FramePassObserver(
      tracer: self.tracer, context: ServiceContext.current, metrics: self.metrics, clock: self.clock
    )
  }

  /// Starts the span of a frame that arrives.
  func startFrame(
    _ frame: Sidelight_V1_Frame, byteCount: Int, in session: Session
  ) -> FrameSpan {
    self.startFrame(
      frame, byteCount: byteCount, session: session.handle.id,
      participant: session.handle.identity.participant, callContext: session.callContext)
  }

  /// Starts the span of a frame that arrives.
  package func startFrame(
    _ frame: Sidelight_V1_Frame, byteCount: Int, session: String, participant: String = "",
    callContext: ServiceContext
  ) -> FrameSpan {
    let span = self.span(
      of: frame, byteCount: byteCount, session: session, participant: participant,
      callContext: callContext)
    return FrameSpan(span: span, tracer: self.tracer, metrics: self.metrics, clock: self.clock)
  }

  private func span(
    of frame: Sidelight_V1_Frame, byteCount: Int, session: String, participant: String,
    callContext: ServiceContext
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
    if !participant.isEmpty { span.attributes["sidelight.participant"] = participant }
    return span
  }
}

/// The span of one frame from arrival to outcome, with child spans for the wait and every pass.
/// Also records the durations as metrics.
///
/// Ends with the frame's outcome; at the latest with its last reference, for a frame without an
/// outcome because its client has disconnected.
package final class FrameSpan: Sendable {
  /// `nil` if the frame's trace is not recorded.
  private let span: (any Span)?
  /// The frame's trace context, recorded or not.
  private let context: ServiceContext?
  private let tracer: (any Tracer)?
  private let metrics: ServerMetrics
  private let clock: SessionClock
  private let arrived: Duration
  private let queue: Mutex<(any Span)?>
  private let hasLeftQueue = Atomic(false)
  private let hasEnded = Atomic(false)

  init(
    span: (any Span)?, tracer: (any Tracer)?, metrics: ServerMetrics, clock: SessionClock
  ) {
    let recorded = span.flatMap { $0.isRecording ? $0 : nil }
    self.span = recorded
    self.context = span?.context
    self.tracer = tracer
    self.metrics = metrics
    self.clock = clock
    self.arrived = clock.now()
    self.queue = Mutex(
      recorded.flatMap { span in tracer?.startSpan("sidelight.queue", context: span.context) })
  }

  deinit {
    guard let span, !self.hasEnded.load(ordering: .relaxed) else { return }
    self.endQueue()
    span.attributes["sidelight.outcome"] = "abandoned"
    span.end()
  }

  /// The observer that starts a span per pass, as a child of the frame's span.
  package var passObserver: FramePassObserver {
    FramePassObserver(
      tracer: self.span == nil ? nil : self.tracer, context: self.context, metrics: self.metrics,
      clock: self.clock)
  }

  /// Ends the span of the wait when the frame's turn has come.
  package func leaveQueue() {
    guard !self.hasLeftQueue.exchange(true, ordering: .relaxed) else { return }
    self.endQueue()
    self.metrics.recordQueue(self.clock.now() - self.arrived)
  }

  func record(_ error: any Error) {
    self.span?.recordError(error)
    self.span?.setStatus(SpanStatus(code: .error, message: "\(error)"))
  }

  /// Ends the span of a written frame.
  package func end(finished disposition: FrameDisposition) {
    self.end(outcome: disposition.name) { span in
      span.attributes["sidelight.outcome"] = disposition.name
    }
  }

  package func end(dropped drop: Drop) {
    self.end(outcome: "dropped") { span in
      span.updateAttributes { attributes in
        attributes["sidelight.outcome"] = "dropped"
        attributes["sidelight.drop.reason"] = drop.reason.name
        attributes["sidelight.drop.stage"] = "\(drop.stage)"
        attributes["error.type"] = drop.reason.name
      }
      span.setStatus(
        SpanStatus(
          code: .error, message: drop.diagnostic?.message ?? "dropped: \(drop.reason.name)"))
    }
  }

  private func end(outcome: String, _ describe: (any Span) -> Void) {
    guard !self.hasEnded.exchange(true, ordering: .relaxed) else { return }
    self.metrics.recordFrame(outcome: outcome, after: self.clock.now() - self.arrived)
    guard let span else { return }
    self.endQueue()
    describe(span)
    span.end()
  }

  private func endQueue() {
    self.queue.withLock { $0.take() }?.end()
  }
}

/// Starts a span per pass, and records its duration. The parent is explicit: the body of a
/// streaming handler runs after the interceptors' task-local context has ended.
package struct FramePassObserver: PassObserver {
  /// `nil` if the frame's trace is not recorded.
  let tracer: (any Tracer)?
  /// The frame's trace context, recorded or not.
  let context: ServiceContext?
  let metrics: ServerMetrics
  let clock: SessionClock

  package func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    let start = self.clock.now()
    let result = try await self.traced(description, body)
    self.metrics.recordPass(description.name, self.clock.now() - start)
    return result
  }

  private func traced<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    guard let tracer, let context else {
      // A custom filter that reads the current trace must find the frame's trace, not the call's.
      guard description.kind == .frame, let context else { return try await body() }
      return try await ServiceContext.withValue(context) { try await body() }
    }
    let name = description.name.clipped(toBytes: 256)
    return try await tracer.withSpan(name, context: context) { span in
      span.attributes["sidelight.pass.filters"] = description.filters
      guard description.kind == .frame else { return try await body() }
      return try await PassFigures.$record.withValue(
        { name, value in span.attributes["sidelight.pass.\(name)"] = value },
        operation: { try await body() })
    }
  }
}

/// Extracts W3C trace context from a frame.
package struct TraceContextExtractor: Extractor {
  package init() {}

  /// - Returns: `nil` for a field that is empty, or longer than W3C requires servers to support.
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
