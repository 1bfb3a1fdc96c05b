import Synchronization
public import Tracing

/// A span of ``OTLPTracer``. A span that is not sampled only propagates its context.
public final class OTLPSpan: Span {
  private struct Record {
    var name: String
    var attributes: SpanAttributes = [:]
    var events: [SpanEvent] = []
    var links: [SpanLink] = []
    var status: SpanStatus?
    var droppedCounts = (events: 0, links: 0)
  }

  /// The maximum number of events, and of links: OpenTelemetry's default.
  private static let limit = 128

  /// The IDs and flags of the span.
  public let spanContext: SpanContext
  /// The context in which the span was started, with this span as the current one.
  public let context: ServiceContext
  private let parent: SpanContext?
  private let kind: SpanKind
  private let start: UInt64
  private let queue: SpanQueue?
  /// `nil` after the end, and if the span is not sampled.
  private let record: Mutex<Record?>

  /// Creates a sampled span.
  init(
    name: String, kind: SpanKind, spanContext: SpanContext, parent: SpanContext?,
    in context: ServiceContext, start: UInt64, queue: SpanQueue
  ) {
    self.spanContext = spanContext
    var ownContext = context
    ownContext.spanContext = spanContext
    self.context = ownContext
    self.parent = parent
    self.kind = kind
    self.start = start
    self.queue = queue
    self.record = Mutex(Record(name: name))
  }

  /// Creates a span that is not sampled.
  init(unsampled spanContext: SpanContext, in context: ServiceContext) {
    self.spanContext = spanContext
    self.context = context
    self.parent = nil
    self.kind = .internal
    self.start = 0
    self.queue = nil
    self.record = Mutex(nil)
  }

  /// Whether the span is sampled and has not ended.
  public var isRecording: Bool { self.queue != nil && self.record.withLock { $0 != nil } }

  /// The name; empty after the end.
  public var operationName: String {
    get { self.record.withLock { $0?.name } ?? "" }
    set { self.record.withLock { $0?.name = newValue } }
  }

  /// The attributes; empty after the end.
  public var attributes: SpanAttributes {
    get { self.record.withLock { $0?.attributes } ?? [:] }
    set { self.record.withLock { $0?.attributes = newValue } }
  }

  /// Sets the status, and replaces an earlier one.
  public func setStatus(_ status: SpanStatus) {
    self.record.withLock { $0?.status = status }
  }

  /// Adds an event. The first 128 events are kept, further ones counted.
  public func addEvent(_ event: SpanEvent) {
    self.record.withLock { record in
      if record.map({ $0.events.count < Self.limit }) ?? false {
        record?.events.append(event)
      } else {
        record?.droppedCounts.events += 1
      }
    }
  }

  /// Adds a link to another span. The first 128 links are kept, further ones counted.
  public func addLink(_ link: SpanLink) {
    self.record.withLock { record in
      if record.map({ $0.links.count < Self.limit }) ?? false {
        record?.links.append(link)
      } else {
        record?.droppedCounts.links += 1
      }
    }
  }

  /// Adds an event `exception` by OpenTelemetry's conventions.
  public func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    guard self.isRecording else { return }
    var attributes = attributes
    attributes["exception.type"] = String(reflecting: type(of: error))
    attributes["exception.message"] = "\(error)"
    self.addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
  }

  /// Ends the span and queues it for the collector. A second call has no effect.
  public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    guard let queue, let record = self.record.withLock({ $0.take() }) else { return }
    queue.add(
      FinishedSpan(
        name: record.name, kind: self.kind, context: self.spanContext, parent: self.parent,
        start: self.start, end: max(self.start, instant().nanosecondsSinceEpoch),
        attributes: record.attributes, events: record.events, links: record.links,
        status: record.status, droppedCounts: record.droppedCounts))
  }
}

/// A span that has ended and waits to be sent.
package struct FinishedSpan: Sendable {
  package var name: String
  package var kind: SpanKind
  package var context: SpanContext
  package var parent: SpanContext?
  /// The start, in nanoseconds since the Unix epoch.
  package var start: UInt64
  /// The end, in nanoseconds since the Unix epoch; not before `start`.
  package var end: UInt64
  package var attributes: SpanAttributes
  package var events: [SpanEvent]
  package var links: [SpanLink]
  package var status: SpanStatus?
  /// The numbers of events and links that were dropped because of the limit.
  package var droppedCounts: (events: Int, links: Int)
}
