import DequeModule
import Synchronization
public import Tracing

/// Creates spans, and passes sampled ones to an ``OTLPExporter``.
///
/// Parents come from W3C Trace Context. Starting and ending a span never waits for the collector.
public final class OTLPTracer: Tracer {
  private let sampler: Sampler
  private let queue: SpanQueue
  private let identifiers = IdentifierSource()

  package init(sampler: Sampler, queue: SpanQueue) {
    self.sampler = sampler
    self.queue = queue
  }

  /// Starts a span: a child of the context's span, or the root of a new trace.
  public func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> OTLPSpan {
    let context = context()
    let parent = context.spanContext
    let traceID = parent?.traceID ?? self.identifiers.traceID()
    guard self.sampler.samples(traceID, parent: parent) else {
      return self.unsampled(traceID, parent: parent, in: context)
    }
    return OTLPSpan(
      name: operationName, kind: kind,
      spanContext: SpanContext(
        traceID: traceID, spanID: self.identifiers.spanID(), isSampled: true,
        isRandom: parent?.isRandom ?? true, state: parent?.state ?? ""),
      parent: parent, in: context, start: instant().nanosecondsSinceEpoch, queue: self.queue)
  }

  /// Propagates the sampling decision with the parent's span ID, if there is a parent. Sampled
  /// descendants then refer to an ancestor that was recorded.
  private func unsampled(
    _ traceID: TraceID, parent: SpanContext?, in context: ServiceContext
  ) -> OTLPSpan {
    if let parent, !parent.isSampled { return OTLPSpan(unsampled: parent, in: context) }
    let own = SpanContext(
      traceID: traceID, spanID: parent?.spanID ?? self.identifiers.spanID(), isSampled: false,
      isRandom: parent?.isRandom ?? true, state: parent?.state ?? "")
    var context = context
    context.spanContext = own
    return OTLPSpan(unsampled: own, in: context)
  }

  /// Requests that ended spans are sent soon, without waiting.
  public func forceFlush() {
    self.queue.wakeExporter()
  }

  /// Writes `traceparent` and `tracestate`.
  public func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let span = context.spanContext else { return }
    injector.inject(span.traceparent, forKey: "traceparent", into: &carrier)
    if !span.state.isEmpty { injector.inject(span.state, forKey: "tracestate", into: &carrier) }
  }

  /// Reads `traceparent` and `tracestate`. Invalid values are ignored.
  public func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let traceparent = extractor.extract(key: "traceparent", from: carrier),
      let span = SpanContext(
        traceparent: traceparent,
        tracestate: extractor.extract(key: "tracestate", from: carrier) ?? "")
    else { return }
    context.spanContext = span
  }
}

/// The rule by which traces are sampled.
public indirect enum Sampler: Sendable, Hashable {
  /// All traces.
  case always
  /// Doesn't sample traces.
  case never
  /// Samples a fraction of traces (0 to 1) by trace ID, consistently across services: traces whose
  /// last 64 bits are below `ratio * 2^64`, as in the SDKs for Go and Python. OpenTelemetry does
  /// not specify the formula. A larger ratio samples a superset.
  case ratio(Double)
  /// The parent's decision, or the decision of `root` without a parent.
  case parentBased(root: Sampler)

  /// Returns whether a span of the trace is sampled.
  ///
  /// - Parameter parent: The parent of the span; `nil` for a root span.
  public func samples(_ trace: TraceID, parent: SpanContext?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .ratio(let ratio): ratio >= 1 || trace.low < UInt64(max(0, ratio) * 0x1p64)
    case .parentBased(let root): parent?.isSampled ?? root.samples(trace, parent: nil)
    }
  }
}

/// Generates IDs of traces and spans using SplitMix64 from a random seed, without system calls.
/// Collisions between servers are as rare as for random IDs.
private final class IdentifierSource: Sendable {
  private let state: Atomic<UInt64>

  init(seed: UInt64 = .random(in: .min ... .max)) {
    self.state = Atomic(seed)
  }

  /// Returns a new trace ID.
  func traceID() -> TraceID {
    while true {
      if let id = TraceID(high: self.next(), low: self.next()) { return id }
    }
  }

  /// Returns a new span ID.
  func spanID() -> SpanID {
    while true {
      if let id = SpanID(self.next()) { return id }
    }
  }

  /// Sebastiano Vigna's SplitMix64 (https://prng.di.unimi.it/splitmix64.c).
  private func next() -> UInt64 {
    var z = self.state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// A bounded queue of ended spans for the exporter. Counts the spans that it drops when it is full.
package final class SpanQueue: Sendable {
  /// The counts of a queue.
  package struct Counts: Sendable, Hashable {
    /// The number of dropped spans.
    package var dropped: UInt64 = 0
    /// The number of waiting spans.
    package var waiting = 0
  }

  private struct State {
    var spans: Deque<FinishedSpan> = []
    var dropped: UInt64 = 0
  }

  private let capacity: Int
  private let batchSize: Int
  private let state = Mutex(State())
  private let wakeUps: AsyncStream<Void>
  private let wakeUp: AsyncStream<Void>.Continuation

  /// - Parameters:
  ///   - capacity: The maximum number of waiting spans.
  ///   - batchSize: The number of spans per batch. When so many wait, the exporter wakes up.
  package init(capacity: Int, batchSize: Int) {
    self.capacity = capacity
    self.batchSize = min(batchSize, capacity)
    (self.wakeUps, self.wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.state.withLock { $0.spans.reserveCapacity(capacity) }
  }

  package var counts: Counts {
    self.state.withLock { Counts(dropped: $0.dropped, waiting: $0.spans.count) }
  }

  /// Adds an ended span, or drops and counts it if the queue is full.
  package func add(_ span: FinishedSpan) {
    let isBatchFull = self.state.withLock { state in
      guard state.spans.count < self.capacity else {
        state.dropped += 1
        return false
      }
      state.spans.append(span)
      return state.spans.count == self.batchSize
    }
    if isBatchFull { self.wakeExporter() }
  }

  /// Returns the next batch, oldest spans first. `nil` if the queue is empty.
  package func takeBatch() -> [FinishedSpan]? {
    self.state.withLock { state in
      guard !state.spans.isEmpty else { return nil }
      let batch = Array(state.spans.prefix(self.batchSize))
      state.spans.removeFirst(batch.count)
      return batch
    }
  }

  /// Wakes the exporter.
  package func wakeExporter() {
    self.wakeUp.yield()
  }

  /// Ends ``waitForWakeUps(_:)``.
  package func finish() {
    self.wakeUp.finish()
  }

  /// Calls `body` on every wake-up, until ``finish()`` or cancellation of the task.
  package func waitForWakeUps(_ body: () async -> Void) async {
    for await _ in self.wakeUps { await body() }
  }
}
