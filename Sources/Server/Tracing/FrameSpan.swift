import GRPCProtobuf
import SidelightKernels
import Synchronization
import Tracing

/// The span of one frame, from arrival to outcome, with a child for its wait and one for each pass.
///
/// Ends with the frame's outcome; a frame that never gets one, because its client is gone, ends it
/// when it is let go.
final class FrameSpan: Sendable {
  private let span: (any Span)?
  private let tracer: (any Tracer)?
  private let queue: Mutex<(any Span)?>
  private let hasEnded = Atomic(false)

  init(span: (any Span)?, tracer: (any Tracer)?) {
    self.span = span
    self.tracer = tracer
    self.queue = Mutex(
      span.flatMap { span in tracer?.startSpan("sidelight.queue", context: span.context) })
  }

  deinit {
    guard let span, !self.hasEnded.load(ordering: .relaxed) else { return }
    self.leaveQueue()
    span.attributes["sidelight.outcome"] = "abandoned"
    span.end()
  }

  /// Opens a span for each pass, as a child of the frame's.
  var passObserver: FramePassObserver {
    FramePassObserver(tracer: self.tracer, parent: self.span?.context)
  }

  /// The frame's turn has come.
  func leaveQueue() {
    self.queue.withLock { $0.take() }?.end()
  }

  /// Something went wrong on the way.
  func record(_ error: any Error) {
    self.span?.recordError(error)
    self.span?.setStatus(SpanStatus(code: .error, message: "\(error)"))
  }

  /// The frame was made and written.
  func end(made disposition: Disposition) {
    switch disposition {
    case .filtered: self.end(outcome: "filtered")
    case .passedThrough: self.end(outcome: "passed_through")
    case .degraded: self.end(outcome: "degraded")
    }
  }

  /// The frame was dropped.
  func end(dropped drop: Drop) {
    guard !self.hasEnded.load(ordering: .relaxed) else { return }
    self.span?.attributes["sidelight.drop.reason"] = "\(drop.reason)"
    self.span?.attributes["sidelight.drop.stage"] = "\(drop.stage)"
    self.span?.setStatus(
      SpanStatus(code: .error, message: drop.diagnostic?.message ?? "dropped: \(drop.reason)"))
    self.end(outcome: "dropped")
  }

  private func end(outcome: String) {
    guard let span, !self.hasEnded.exchange(true, ordering: .relaxed) else { return }
    self.leaveQueue()
    span.attributes["sidelight.outcome"] = outcome
    span.end()
  }
}
