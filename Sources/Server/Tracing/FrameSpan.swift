import GRPCProtobuf
import SidelightKernels
import Synchronization
import Tracing

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
