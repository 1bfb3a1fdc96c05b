package import GRPCCore
import GRPCProtobuf
package import SidelightKernels
package import SidelightWire
import Synchronization
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

/// One frame's way, from arrival to outcome: a span with a child for its wait and one for each pass,
/// and how long it took.
///
/// Ends with the frame's outcome; a frame that never gets one, because its client is gone, ends it
/// when it is let go.
package final class FrameSpan: Sendable {
  /// `nil` if the frame's trace is not recorded.
  private let span: (any Span)?
  /// What the frame's trace is, recorded or not.
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

  /// Opens a span for each pass, as a child of the frame's.
  package var passObserver: FramePassObserver {
    FramePassObserver(
      tracer: self.span == nil ? nil : self.tracer, context: self.context, metrics: self.metrics,
      clock: self.clock)
  }

  /// The frame's turn has come.
  package func leaveQueue() {
    guard !self.hasLeftQueue.exchange(true, ordering: .relaxed) else { return }
    self.endQueue()
    self.metrics.recordQueue(self.clock.now() - self.arrived)
  }

  /// Something went wrong on the way.
  func record(_ error: any Error) {
    self.span?.recordError(error)
    self.span?.setStatus(SpanStatus(code: .error, message: "\(error)"))
  }

  /// The frame was made and written.
  package func end(finished disposition: Disposition) {
    self.end(outcome: disposition.name) { span in
      span.attributes["sidelight.outcome"] = disposition.name
    }
  }

  /// The frame was dropped.
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

/// Opens a span around each pass, and tells how long it took. The parent is given, not found: a
/// streaming handler's body runs after the interceptors' context is gone, and spans that trusted it
/// would be orphans.
package struct FramePassObserver: PassObserver {
  /// `nil` if the frame's trace is not recorded.
  let tracer: (any Tracer)?
  /// The frame's trace, recorded or not.
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
      // A filter of a user's own may look for its trace, and must not find the call's.
      guard description.kind == .frame, let context else { return try await body() }
      return try await ServiceContext.withValue(context) { try await body() }
    }
    let name = description.name.clipped(toBytes: 256)
    return try await tracer.withSpan(name, context: context) { span in
      span.attributes["sidelight.pass.filters"] = description.filters
      return try await body()
    }
  }
}

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

/// Reads trace context from a call's metadata.
struct MetadataExtractor: Extractor {
  /// - Returns: What stands there. Lists such as `tracestate` may come in parts, which are joined; more
  ///   than one `traceparent` says nothing.
  func extract(key: String, from carrier: Metadata) -> String? {
    let values = Array(carrier[stringValues: key])
    switch key {
    case "traceparent": return values.count == 1 ? values[0] : nil
    default: return values.isEmpty ? nil : values.joined(separator: ",")
    }
  }
}
