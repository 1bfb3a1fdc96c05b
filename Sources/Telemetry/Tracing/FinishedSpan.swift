package import Tracing

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
  /// The numbers of events and links beyond the limit.
  package var leftOut: (events: Int, links: Int)
}
